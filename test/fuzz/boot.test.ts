// A guest that does not come to the agent: the message says what its console has.
import { expect, it } from 'vitest';
import { Executor } from '../../fuzz/index.ts';

const WFI = 0x1050_0073;
/** Jumps to the wfi in front of it. */
const AGAIN = 0xffdf_f06f;

/** An Image whose header is good, with these instructions. */
function imageOf(...code: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(4096);
  const view = new DataView(bytes.buffer);
  for (const [i, word] of code.entries()) view.setUint32(4 * i, word, true);
  view.setBigUint64(8, 0x20_0000n, true);
  view.setBigUint64(16, 4096n, true);
  bytes.set(new TextEncoder().encode('RISCV'), 48);
  bytes.set(new TextEncoder().encode('RSC\x05'), 56);
  return bytes;
}

it.each([
  ['halt', [WFI, AGAIN]],
  ['its code is none', []],
])('an Image that prints nothing has an empty console: %s', (why, code) => {
  const kernel = { name: 'kernel', bytes: imageOf(...code) };
  expect(() => new Executor({ machine: { kernel, ramBytes: 16 * 2 ** 20 }, kind: 'other' })).toThrow(
    `the fuzzer's program in the guest did not begin (${why}); the console is empty`,
  );
});
