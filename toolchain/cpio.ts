// Writes the initial RAM file system: a cpio archive in the "newc" format (magic 070701), which the
// kernel unpacks at boot. Deterministic: no times, no owners, inode numbers in order. Contents
// begin at multiples of eight, through more zeros behind the name, so that the guest copies them by
// whole words: a third of the instructions of its boot.

/** One file of the archive. Paths are relative to the root, without a leading slash. */
export interface CpioEntry {
  readonly path: string;
  /** File type and permission bits, as in stat(2). */
  readonly mode: number;
  readonly data?: Uint8Array;
}

const S_IFDIR = 0o040000;
/** Bytes of an entry in front of its name. */
const HEADER = 110;
const encoder = new TextEncoder();
const hex8 = (value: number): string => value.toString(16).padStart(8, '0');
const padding = (bytes: number): number => (4 - (bytes % 4)) % 4;

/** Entries in order, with the folders above each file added before it. */
export function writeCpio(entries: readonly CpioEntry[]): Uint8Array {
  const chunks: Uint8Array[] = [];
  const seen = new Set<string>();
  let inode = 1;
  let at = 0;
  const put = (path: string, mode: number, data: Uint8Array): void => {
    let name = encoder.encode(`${path}\0`);
    const header = at + HEADER + name.length;
    if (data.length > 0) name = encoder.encode(`${path}\0${'\0'.repeat((8 - (header % 8)) % 8)}`);
    const links = (mode & 0o170000) === S_IFDIR ? 2 : 1;
    const fields = [inode++, mode, 0, 0, links, 0, data.length, 0, 0, 0, 0, name.length, 0];
    chunks.push(encoder.encode(`070701${fields.map(hex8).join('')}`), name);
    chunks.push(new Uint8Array(padding(HEADER + name.length)), data, new Uint8Array(padding(data.length)));
    at += HEADER + name.length + padding(HEADER + name.length) + data.length + padding(data.length);
  };
  for (const { path, mode, data } of entries) {
    const parts = path.split('/');
    for (let depth = 1; depth < parts.length; depth++) {
      const folder = parts.slice(0, depth).join('/');
      if (!seen.has(folder)) put(folder, S_IFDIR | 0o755, new Uint8Array(0));
      seen.add(folder);
    }
    seen.add(path);
    put(path, mode, data ?? new Uint8Array(0));
  }
  inode = 0;
  put('TRAILER!!!', 0, new Uint8Array(0));
  const archive = new Uint8Array(at + ((512 - (at % 512)) % 512));
  let filled = 0;
  for (const chunk of chunks) {
    archive.set(chunk, filled);
    filled += chunk.length;
  }
  return archive;
}
