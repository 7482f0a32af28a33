// The only script that the page as one file has in its text: unpacks the others, and starts them.
import { unpack } from './unpack.ts';

/** Contents by path: a line of JSON with the sizes, then one behind the other. */
function filesOf(bytes: Uint8Array): Map<string, Uint8Array> {
  let at = bytes.indexOf(10) + 1;
  const sizes = JSON.parse(new TextDecoder().decode(bytes.subarray(0, at))) as [string, number][];
  return new Map(sizes.map(([name, size]) => [name, bytes.subarray(at, (at += size))]));
}

try {
  const text = atob(document.getElementById('files')!.textContent.trim());
  const files = filesOf(unpack(Uint8Array.from(text, letter => letter.charCodeAt(0))));
  globalThis.kcovboxFiles = files;
  const page = new Blob([files.get('page.js') as Uint8Array<ArrayBuffer>], { type: 'text/javascript' });
  const script = document.createElement('script');
  script.type = 'module';
  script.src = URL.createObjectURL(page);
  document.head.append(script);
} catch (error) {
  document.getElementById('app')!.textContent =
    `This file cannot be opened: ${(error as Error).message}. Get it again, as a whole.`;
}
