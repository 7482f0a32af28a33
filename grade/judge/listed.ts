// A program that lists addresses, as clients of kcov do: are they those of the kernel's hooks that
// the run executed? The counts of retired instructions decide, so a kcov of the student's own is
// judged without a second one.
import {
  type Addr,
  addrOf,
  CallSites,
  type Elf,
  type ExactCounts,
  hex,
  Symbolizer,
} from '../../coverage/index.ts';
import { describePlace, linesOf, PREFIX, type ReadSource } from './places.ts';

/** Addresses that a program prints, one a line. */
const printed = (text: string): Addr[] =>
  [...text.matchAll(/^0x([0-9a-f]{1,16})$/gm)].map(([, digits]) => addrOf(BigInt(`0x${digits}`)));

/** Why the list is not what kcov reports; undefined: it is, and has the places. */
export function listFault(
  text: string,
  elf: Elf,
  { low, counts }: ExactCounts,
  places: readonly string[],
  read: ReadSource,
): string | undefined {
  const pcs = printed(text);
  if (pcs.length === 0) return 'its output has no address';
  const sites = new CallSites(elf);
  const calls = new Map<Addr, Addr>();
  for (let i = 0; i < sites.count; i++) calls.set(sites.ret[i]!, sites.call[i]!);
  const first = addrOf(low);
  const didRun = (pc: Addr): boolean => {
    const call = calls.get(pc);
    return call !== undefined && (counts[(call - first) / 2] ?? 0n) > 0n;
  };
  const stranger = pcs.find(pc => !didRun(pc));
  if (stranger !== undefined)
    return `${hex(stranger)} does not lie behind a call of a hook that the kernel executed`;
  const symbolizer = new Symbolizer(elf);
  const lines = new Set(
    [...new Set(pcs)].flatMap(pc =>
      symbolizer.frames(calls.get(pc)!).map(({ file, line }) => `${shortOf(file)}:${line}`),
    ),
  );
  const missing = places.find(place => {
    const { path, lines: wanted } = linesOf(place, read);
    return !wanted.some(line => lines.has(`${path}:${line}`));
  });
  return missing && `none of its ${pcs.length} addresses is in ${describePlace(missing, read)}`;
}

/** A file as places name it. */
const shortOf = (file: string): string => file.slice(file.lastIndexOf(PREFIX) + PREFIX.length);
