// Records a program that a reader gives: its run is that of `kcovbox run --record PROGRAM` without
// input, to the byte. Everything else is as in a recorded program of the menu, which has the
// defaults.
import { createMachine, KcovboxError, RUN_HASH_INTERVAL } from '../../emulator/index.ts';
import { machineOptions } from '../../host/machine.ts';
import { checkProgram, EXECUTABLE, NAME_MAX } from '../../host/program.ts';
import { choiceOf, guestOf } from '../../host/replay.ts';
import { Capsule, STATE_HASH, writeCapsule } from '../../run/capsule/index.ts';
import { Feed } from '../../run/feed.ts';
import { describeInput, type RunDescription, type RunOutcome } from '../../run/index.ts';
import { outcomeOf } from '../../run/outcome.ts';
import { verdict } from '../../run/verdict.ts';
import { writeCpio } from '../../toolchain/cpio.ts';
import type { Assets } from '../protocol.ts';
import { Printed } from './first-pass.ts';
import { beside, HOST, sha256 } from './host.ts';
import { type KernelImage, kernelOfFiles } from './images.ts';

/** Instructions that a program may run: as many as `kcovbox serve` gives it. */
const UNITS_MAX = 300_000_000;
/** Kernels and bare-metal images are linked from here on; programs are below. */
const RAM_BASE = 0x8000_0000n;
const ENTRY_AT = 24;

/** The end of a run that has not been yet. */
const OPEN_END = { time: Number.MAX_SAFE_INTEGER - 1 } as RunOutcome;
const NO_INPUT = { takePiece: async () => new Uint8Array(0) };

/** A name that the guest's command line can hold. */
const nameOf = (file: string): string =>
  file.replace(/[^\x21-\x7e]|[\\"/]/g, '_').slice(-NAME_MAX) || 'program';

/** Errors: one line, when it is no program for the guest. */
function check(program: Uint8Array, file: string): void {
  checkProgram(file, program);
  const entry = new DataView(program.buffer, program.byteOffset).getBigUint64(ENTRY_AT, true);
  if (entry >= RAM_BASE)
    throw new KcovboxError(
      'input',
      `${file} is a kernel or a bare-metal image: record its machine with kcovbox boot --record, and open the capsule`,
    );
}

/** The description of its run. */
async function describe(
  program: Uint8Array,
  initrd: Uint8Array,
  name: string,
  { programs }: Assets,
  dialect: string,
): Promise<{ run: RunDescription; kcovbox: string }> {
  const row = programs.find(one => one.id === `kcov-${dialect}`);
  if (!row) throw new KcovboxError('input', `this page has no kernel of ${dialect} for ${name}`);
  const { run, kcovbox } = Capsule.open(await beside(row.capsule), HOST).manifest;
  if (run.format !== 'kcovbox run') throw new KcovboxError('input', 'the page is damaged: build it again');
  return {
    kcovbox,
    run: {
      ...run,
      images: { ...run.images, program: sha256(program), initrd: sha256(initrd) },
      program: { name, argv: [name], environment: {}, cflags: [] },
      kernel: { ...run.kernel, tail: `init=/bin/${name}` },
      budget: UNITS_MAX,
      input: describeInput([], 'idle-64k', sha256),
    },
  };
}

/** The capsule of its run, without the kernel. `file`: the name of its file. */
export async function recordProgram(
  program: Uint8Array,
  file: string,
  assets: Assets,
  dialect = 'openbsd',
): Promise<Uint8Array> {
  check(program, file);
  const name = nameOf(file);
  const initrd = writeCpio([{ path: `bin/${name}`, mode: EXECUTABLE, data: program }]);
  const { run, kcovbox } = await describe(program, initrd, name, assets, dialect);
  const files = assets.kernels.find(kernel => kernel.sha256 === run.images.kernel.sha256);
  if (!files) throw new KcovboxError('input', `this page has no kernel of ${dialect} for ${name}`);
  const kernel = await kernelOfFiles(files);
  const { machine, outcome, printed } = await execute(run, kernel, initrd);
  const journal = machine.journal.entries;
  const images = new Map<string, Uint8Array | { bytes: number; sha256: string }>([
    ['kernel.bin', { bytes: files.bytes, sha256: files.sha256 }],
    ['initrd.bin', initrd],
  ]);
  const input = describeInput(journal, 'idle-64k', sha256);
  return writeCapsule(
    { kcovbox, stateHash: STATE_HASH, run: { ...run, input }, outcome, journal, printed, images },
    sha256,
  );
}

async function execute(run: RunDescription, kernel: KernelImage, initrd: Uint8Array) {
  const parts = new Map([
    ['kernel.bin', kernel.bytes],
    ['initrd.bin', initrd],
  ]);
  const machine = createMachine({
    ...machineOptions(guestOf(run, parts, ''), choiceOf(run, OPEN_END, 'jit')),
    runHash: RUN_HASH_INTERVAL,
    onConsole: byte => printed.put(byte),
  });
  const printed = new Printed(() => machine.spentNow);
  const feed = new Feed(machine, NO_INPUT, {
    end: 'break',
    isBusyGuest: false,
    isInterrupted: () => false,
  });
  let result = machine.run(0);
  while (machine.spent < UNITS_MAX) {
    result = machine.run(UNITS_MAX - machine.spent, feed.duration);
    if (result.kind !== 'budget' && result.kind !== 'halt') break;
    if (!(await feed.give(result)) && result.kind === 'halt' && feed.isOver) break;
  }
  const { outcome: end, status } = verdict(result);
  const { bytes: text, sha256: consoleHash } = printed.end();
  const outcome = outcomeOf(machine, { end, status, consoleHash });
  return { machine, outcome, printed: { text, bytes: text.length } };
}
