// Names of files and folders that are being written: `PATH.PID-PLACE.tmp`. A writer that is killed
// leaves one behind, and the next writer removes it. Hosts and containers may share a folder, and
// a process id means something in one of them only: PLACE tells them apart.
import { lstatSync, readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { nameOfKey } from './name-of-key.ts';

/** Milliseconds that no writer needs: of one elsewhere only the age of its file is known. */
const LONGEST = 24 * 3600 * 1000;

function placeOfProcess(): string {
  let namespace = '';
  try {
    namespace = readlinkSync('/proc/self/ns/pid'); // pid_namespaces(7)
  } catch {} // no Linux: one for each host
  return nameOfKey(`${hostname()}\0${namespace}`).slice(0, 8);
}

let known: string | undefined;

/** Where the process ids of this process are valid: 8 hexadecimal digits. */
function place(): string {
  known ??= placeOfProcess();
  return known;
}

/** Bytes of a name that leave room for the rest; file systems take 255 (NAME_MAX). */
const NAME_MAX = 200;

/** The form of `name` in names of temporary files: itself, or a hash of it where it is long. */
export const shortened = (name: string): string =>
  Buffer.byteLength(name) <= NAME_MAX ? name : nameOfKey(name);

/** The name under which `path` is written until it is whole. */
export function temporaryPath(path: string, pid: number = process.pid): string {
  const start = path.lastIndexOf('/') + 1;
  return `${path.slice(0, start)}${shortened(path.slice(start))}.${pid}-${place()}.tmp`;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  return !hasEnded(pid);
}

/** Is it a zombie, which writes no more? The first process of a container may not wait for it. */
function hasEnded(pid: number): boolean {
  try {
    // PID (NAME) STATE ..., where the name may have brackets and blanks: proc_pid_stat(5).
    return /^[ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'latin1').replace(/^.*\) /s, ''));
  } catch {
    return false; // no Linux
  }
}

/**
 * The name of what an interrupted writer did not finish, `shortened`, if `name` in `folder` is a
 * file or folder that it left. A build may put a suffix behind it, such as `.objects`, and lld
 * another one, `.tmp01ab`.
 */
export function unfinished(folder: string, name: string): string | undefined {
  const [, product, pid, where] =
    /^(.+)\.(\d+)-([0-9a-f]{8})\.tmp(?:\.(?:objects|elf|d)(?:\.tmp\w+)?)?$/.exec(name) ?? [];
  if (product === undefined) return undefined;
  if (where === place()) return isAlive(Number(pid)) ? undefined : product;
  const written = lstatSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs;
  return written !== undefined && written < Date.now() - LONGEST ? product : undefined;
}
