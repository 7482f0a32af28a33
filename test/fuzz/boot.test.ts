// A guest that does not come to the agent: the message says what its console has.
import { expect, it } from 'vitest';
import { Executor } from '../../fuzz/index.ts';

const WFI = 0x1050_0073;
/** Jumps to the wfi in front of it. */
const AGAIN = 0xffdf_f06f;

/** An Image whose header is good, and whose code does nothing. */
function imageOfNothing(): Uint8Array {
  const bytes = new Uint8Array(4096);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, WFI, true);
  view.setUint32(4, AGAIN, true);
  view.setBigUint64(8, 0x20_0000n, true);
  view.setBigUint64(16, 4096n, true);
  bytes.set(new TextEncoder().encode('RISCV'), 48);
  bytes.set(new TextEncoder().encode('RSC\x05'), 56);
  return bytes;
}

it('an Image that prints nothing has an empty console', () => {
  const kernel = { name: 'kernel', bytes: imageOfNothing() };
  expect(() => new Executor({ machine: { kernel, ramBytes: 16 * 2 ** 20 }, kind: 'other' })).toThrow(
    /^the fuzzer's program in the guest did not begin \(halt\); the console is empty$/,
  );
});
