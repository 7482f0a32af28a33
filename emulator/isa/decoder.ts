// Decoding for one CPU: words of extensions that it lacks are illegal.

import { compressedExtension, type Decode, decodeInto, type Insn } from './codec.ts';
import { type Extensions, isOptional } from './extensions.ts';
import { ROWS } from './table.ts';

/** `decodeInto` for a hart with these optional extensions. */
export function decoderOf(extensions: Extensions): Decode {
  // A prefetch is a hint: it does nothing, also without Zicbop.
  const has = (name: string): boolean => !isOptional(name) || name === 'zicbop' || extensions.has(name);
  const known = Uint8Array.from([0, ...ROWS.map(row => (has(row.ext) ? 1 : 0))]);
  const hasZcb = has('zcb');
  return (word: number, out: Insn): boolean => {
    if (!decodeInto(word, out)) return false;
    if (known[out.op] === 1 && (hasZcb || out.bytes === 4 || compressedExtension(out.word) === 'c'))
      return true;
    out.op = 0;
    return false;
  };
}
