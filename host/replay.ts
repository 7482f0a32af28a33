// A capsule as a run: its machine, and what differed when it ran again.
import {
  type EngineKind,
  KcovboxError,
  parseFaults,
  parseHostile,
  parseSchedule,
  RUN_HASH_INTERVAL,
} from '../emulator/index.ts';
import { type Capsule, STATE_HASH } from '../run/capsule/index.ts';
import { extensionsOf, type RunDescription, type RunOutcome } from '../run/index.ts';
import type { LoadedDevice } from './device.ts';
import type { GuestImages } from './guest.ts';
import type { MachineChoice } from './machine.ts';

/** Units after which a replay is another run already. */
export const limitOf = ({ budget }: { budget: number | null }, { time }: RunOutcome): number =>
  Math.min(budget ?? Number.POSITIVE_INFINITY, time + 1);

/** The end of a recorded run for those who go back and forth in it; see TimelineOptions. */
export const endOf = (
  run: { budget: number | null },
  outcome: RunOutcome,
): { readonly units: number; readonly time: number } => ({
  units: limitOf(run, outcome),
  time: outcome.end === 'interrupted' ? outcome.time : Number.POSITIVE_INFINITY,
});

/** The machine of a recorded run. */
export function choiceOf(
  run: RunDescription,
  outcome: RunOutcome,
  engine: EngineKind,
  devices: readonly LoadedDevice[] = [],
): MachineChoice {
  const { kernel, machine, program } = run;
  const seedOf = (text: string | null): bigint | undefined => (text === null ? undefined : BigInt(text));
  return {
    dialect: kernel.dialect,
    conf: kernel.conf,
    kcov: machine.kcov,
    engine,
    smp: machine.harts,
    cpu: extensionsOf(machine),
    memory: machine.memory,
    seed: seedOf(machine.seed),
    schedSeed: seedOf(machine.schedSeed),
    ...(machine.schedule !== undefined && { schedule: parseSchedule(machine.schedule) }),
    icount: machine.icountShift,
    maxInsns: limitOf(run, outcome),
    cflags: [], // a stranger's flags do not reach the compiler
    env: program.environment,
    devices: recordedDevices(run, devices),
    faults: (machine.faults ?? []).flatMap(parseFaults),
    hostile: (machine.hostile ?? []).map(parseHostile),
  };
}

/**
 * The recorded devices of the user's own, of those that are given. A capsule has their hashes and
 * not their code: a replay runs no code of a stranger.
 */
function recordedDevices({ machine }: RunDescription, given: readonly LoadedDevice[]): LoadedDevice[] {
  return (machine.own ?? []).map(({ name, sha256, params }) => {
    const found = given.find(device => device.sha256 === sha256);
    if (found) return { ...found, params };
    const other = given.find(({ definition }) => definition.name === name);
    throw new KcovboxError(
      'input',
      `the run had device ${name} (sha256 ${sha256.slice(0, 16)}...), ` +
        (other ? `not ${other.path} as it is now` : 'whose code is in no capsule; give it with --device'),
    );
  });
}

/** The images of the guest. `kernelPath`: a file with the kernel, if a report needs one. */
export function guestOf(
  run: RunDescription,
  images: ReadonlyMap<string, Uint8Array>,
  kernelPath: string,
): GuestImages {
  return {
    kernelPath,
    kernel: images.get('kernel.bin')!,
    initrd: images.get('initrd.bin')!,
    append: run.kernel.append,
    tail: run.kernel.tail,
    size: run.machine.devices[0], // the terminal of then, not of now
    name: run.program.name,
    args: run.program.argv.slice(1),
    program: new Uint8Array(0),
  };
}

const FACTS = ['end', 'status', 'instret', 'time', 'consoleHash', 'records'] as const;
const LF = 10;

/** The first byte of the console that differs; empty where it cannot be told. */
function consoleDifference(then: Uint8Array, now: Uint8Array): string {
  const shorter = Math.min(then.length, now.length);
  let at = 0;
  while (at < shorter && then[at] === now[at]) at++;
  if (at === then.length && at === now.length) return '';
  const line = then.subarray(0, at).reduce((lines, byte) => lines + (byte === LF ? 1 : 0), 1);
  return `the console differs from byte ${at} on (line ${line})`;
}

/** Up to where two chains are equal; empty when they are, or cannot be compared. */
function chainDifference({ runHash: then, time }: RunOutcome, { runHash: now }: RunOutcome): string {
  if (then.interval !== now.interval) return '';
  const at = then.links.findIndex((link, k) => link !== now.links[k]);
  if (at < 0) return '';
  if (at === 0) return 'the runs differ before their first instruction';
  return `the runs are the same up to unit ${(at - 1) * then.interval}, and no more at ${Math.min(at * then.interval, time)}`;
}

/**
 * Were the hashes of the recorded state computed as this kcovbox does it? Others say nothing about
 * the run.
 */
export const hasOurHashes = ({ manifest }: Capsule): boolean => manifest.stateHash === STATE_HASH;

/** How much of the recorded state was compared, for the user. */
export function comparedState(capsule: Capsule): string {
  const { outcome, stateHash } = capsule.manifest;
  if (!hasOurHashes(capsule)) return `state not compared (${stateHash})`;
  const { interval } = outcome.runHash;
  const chain = interval === RUN_HASH_INTERVAL ? '' : `, chain not compared (a link every ${interval} units)`;
  return `state ${outcome.stateHash}${chain}`;
}

/** The differences, one short text each: "status is 1, was 0". `console`: its beginning. */
export function differences(capsule: Capsule, now: RunOutcome, console: Uint8Array): string[] {
  const { outcome: then } = capsule.manifest;
  const different = FACTS.filter(name => then[name] !== now[name]).map(
    name => `${name} is ${now[name]}, was ${then[name]}`,
  );
  const where = then.consoleHash === now.consoleHash ? '' : consoleDifference(capsule.console(), console);
  if (where !== '') different.push(where);
  if (!hasOurHashes(capsule)) return different;
  if (then.stateHash !== now.stateHash)
    different.push(`stateHash is ${now.stateHash}, was ${then.stateHash}`);
  const first = chainDifference(then, now);
  if (first !== '') different.push(first);
  return different;
}
