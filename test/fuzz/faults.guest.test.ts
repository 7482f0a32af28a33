// Programs with faults of devices: an execution is a function of the program alone.
import { expect, it } from 'vitest';
import { faultsAgree, faulty } from './faulty.ts';

it('each program has the same records again, and on the other engine', async () => {
  await faultsAgree(await faulty(), 250, 0x5eed_0003);
});

it('events count from the start of the program, and are over behind it', async () => {
  const { program, compiled, interpreted } = await faulty();
  for (const executor of [compiled, interpreted]) {
    const run = (faults: string) => executor.execute(program(`${faults}OPENread$thermo(r0, &out[8], 0x8)\n`));
    const plain = run('');
    expect(plain.calls[1]!.value).toBe(6n); // 23.50 and the end of the line
    expect(plain.faults).toEqual([]);
    const lost = run('!fault thermo:remove@1\n');
    expect(lost.calls[1]!.value).toBe(BigInt.asUintN(64, -110n)); // ETIMEDOUT
    expect(lost.faults).toHaveLength(1);
    // As if there had been none: the device is back, and nothing is armed.
    expect(run('')).toEqual(plain);
    expect(run('!fault thermo:remove@99999\n')).toMatchObject({ calls: plain.calls, faults: [] });
  }
});

it('a program with a fault of a device that cannot have any is refused', async () => {
  const { program, compiled } = await faulty();
  expect(() => compiled.execute(program('!fault virtio0:remove@1\ngetpid()\n'))).toThrow(
    'the program has a fault of virtio0, the target has none',
  );
});

it('where each program boots the guest, the boot has no faults', async () => {
  const { program, booted, compiled } = await faulty();
  const text = '!fault thermo:read-ones@3\n!fault thermo:irq-drop@1\nOPENread$thermo(r0, &out[8], 0x8)\n';
  const [one, again] = [booted.execute(program(text)), booted.execute(program(text))];
  expect(again).toEqual(one);
  expect(one.calls).toEqual(compiled.execute(program(text)).calls);
  expect(booted.execute(program('OPENread$thermo(r0, &out[8], 0x8)\n')).calls[1]!.value).toBe(6n);
});
