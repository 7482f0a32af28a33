// The only script that the page as one file has in its text: unpacks the others, and starts them.
import { fromBase85 } from '../file/base85.ts';
import { unpack } from '../file/unpack.ts';
import { fail, start } from './script.ts';

/** Contents by path: a line of JSON with the sizes, then one behind the other. */
function filesOf(bytes: Uint8Array): Map<string, Uint8Array> {
  let at = bytes.indexOf(10) + 1;
  const sizes = JSON.parse(new TextDecoder().decode(bytes.subarray(0, at))) as [string, number][];
  return new Map(sizes.map(([name, size]) => [name, bytes.subarray(at, (at += size))]));
}

try {
  const files = filesOf(unpack(fromBase85(document.getElementById('files')!.textContent)));
  globalThis.kcovboxFiles = files;
  start(files.get('page.js')!);
} catch (error) {
  fail(`This file cannot be opened: ${(error as Error).message}. Get it again, as a whole.`);
}
