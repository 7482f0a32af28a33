// The socket of the stub against clients that are not GDB: they send incomplete packets, invalid
// numbers, and endless commands whose answers they never read.

import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { GdbServer } from '../../cli/run/gdb.ts';
import { frame } from '../../emulator/debug/gdb-packets.ts';
import { readRegister, writeRegister } from '../../emulator/debug/gdb-registers.ts';
import { GdbStub, Machine, stateHash } from '../../emulator/index.ts';

/** `j .` */
const SPIN = Uint8Array.of(0x6f, 0, 0, 0);

let machine: Machine;
let server: GdbServer;
let port: number;
const clients: Socket[] = [];

beforeEach(async () => {
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  machine = Machine.create({ kernel: { name: 'spin.bin', bytes: SPIN }, bios: 'none', ramBytes: 4 << 20 });
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  port = (probe.address() as { port: number }).port;
  probe.close();
  await once(probe, 'close');
  server = await GdbServer.listen(machine, { port, stopped: true });
});

afterEach(() => {
  for (const client of clients.splice(0)) client.destroy();
  server.close();
  vi.restoreAllMocks();
});

async function join(): Promise<Socket> {
  const client = connect(port, '127.0.0.1');
  clients.push(client);
  await once(client, 'connect');
  return client;
}

/** Everything that the server says until it ends with `end`. */
async function answer(client: Socket, end: RegExp): Promise<string> {
  let text = '';
  for await (const data of client.iterator({ destroyOnReturn: false })) {
    text += data;
    if (end.test(text)) break;
  }
  return text;
}

test('half a packet does not survive its connection', async () => {
  const first = await join();
  first.write('$P0=0000'); // no end
  await delay(20);
  first.destroy();
  await delay(20);
  const second = await join();
  second.write(frame('qC'));
  expect(await answer(second, /#..$/)).toBe(`+${frame('QC1')}`);
});

test.each(['-1', '-5', '', '0.5', 'zz', 'fffffff', '-80000000'])('there is no register %j', async n => {
  const hash = stateHash(machine);
  const client = await join();
  client.write(frame(`P${n}=ffffffffffffffff`) + frame(`p${n}`));
  const text = await answer(client, /(#..[^#]*){2}$/);
  expect(text).toBe(`+${frame('E01')}+${frame('E01')}`);
  expect(stateHash(machine)).toBe(hash);
});

test('no number outside the table reads or writes the state', () => {
  const [hart] = machine.harts;
  const hash = stateHash(machine);
  for (const n of [-1, -2, -65, -(2 ** 20), 4162, 5000, 2 ** 31, 2 ** 40, Number.NaN]) {
    expect(readRegister(hart!, n), `read ${n}`).toBeUndefined();
    expect(writeRegister(hart!, n, ~0n), `write ${n}`).toBe(false);
  }
  expect(stateHash(machine)).toBe(hash);
});

test('breakpoints and watchpoints without end are refused at last', async () => {
  const stub = new GdbStub(machine);
  const say = (text: string): string => {
    stub.receive(new TextEncoder().encode(frame(text)));
    return stub.take();
  };
  for (const kind of ['0', '2']) {
    let set = 0;
    while (set < 5000 && say(`Z${kind},${(0x80000000 + 4 * set).toString(16)},4`).includes('OK')) set++;
    expect(set).toBeGreaterThanOrEqual(64);
    expect(set).toBeLessThan(5000);
    expect(say(`z${kind},80000000,4`)).toContain('OK');
    expect(say(`Z${kind},80000000,4`)).toContain('OK');
  }
});

describe('a client that never reads', () => {
  const REQUESTS = 700;
  const BYTES = 0x3fe0;

  test('costs one answer of memory, and gets all of them when it reads', async () => {
    const receive = vi.spyOn(GdbStub.prototype, 'receive');
    const client = await join();
    client.pause();
    client.write(frame('QStartNoAckMode') + `+${frame(`m80000000,${BYTES.toString(16)}`)}`.repeat(REQUESTS));
    // Until nothing moves any more: the buffers of the two sockets are full.
    for (let before = -1; receive.mock.calls.length !== before; await delay(150))
      before = receive.mock.calls.length;
    const served = receive.mock.calls.length;
    expect(served).toBeGreaterThan(10);
    expect(served * 2 * BYTES).toBeLessThan(16 << 20); // of 22 MiB; TCP itself keeps up to 10
    const wanted = 1 + frame('OK').length + REQUESTS * (2 * BYTES + 4);
    let length = 0;
    client.on('data', data => {
      length += data.length;
    });
    client.resume();
    while (length < wanted) await delay(20);
    expect(length).toBe(wanted);
  }, 30_000);

  test('does not hold up the end of the run', async () => {
    const client = await join();
    client.pause();
    client.write(`+${frame(`m80000000,${BYTES.toString(16)}`)}`.repeat(REQUESTS));
    await delay(300);
    const closed = once(client.resume(), 'close');
    client.on('error', () => {});
    server.close();
    await closed;
  });
});
