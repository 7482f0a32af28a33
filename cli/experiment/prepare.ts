// From the file of an experiment to its plan: compiles programs and kernels, and describes each
// variant by the hashes of its images.
import { basename, isAbsolute, join } from 'node:path';
import { HostError, parseCpu, parseSchedule } from '../../emulator/index.ts';
import { codeOf, seedText, trialSeed } from '../../experiment/plan.ts';
import { Places } from '../../experiment/report/places.ts';
import type {
  ExperimentFile,
  PlannedFuzz,
  PlannedProgram,
  PlannedVariant,
  ProgramOptions,
} from '../../experiment/schema.ts';
import { describe } from '../../host/describe.ts';
import { prepareGuest } from '../../host/guest.ts';
import { readInput } from '../../host/input.ts';
import { kernelTitle } from '../../host/kernels.ts';
import type { MachineChoice } from '../../host/machine.ts';
import { checkFlags } from '../../host/trust.ts';
import { sha256 } from '../../toolchain/index.ts';
import { UserError } from '../io/fail.ts';
import { confOf } from '../run/robust.ts';
import type { Prepared } from './folder.ts';
import type { ReadExperiment } from './read.ts';

const MIB = 2 ** 20;
const MEMORY = 256;
const MAX_INSNS = 100_000_000;

/** Of a trial list. */
const seedsOf = (file: ExperimentFile, variant: string): string[] =>
  file.seeds?.map(given => seedText(BigInt(given))) ??
  Array.from({ length: file.trials! }, (_, index) => trialSeed(BigInt(file.seed ?? 0), variant, index));

function machineOf(options: ProgramOptions, fail: (key: string, why: string) => never): MachineChoice {
  const isC = /\.c$/i.test(options.source);
  const trace = options.trace ?? isC;
  if (trace && !isC)
    fail('trace', `kcov is compiled into a C program, and ${options.source} is compiled already`);
  const dialectGiven = options.dialect;
  const parts = (() => {
    try {
      return confOf(options.conf ?? dialectGiven ?? 'openbsd', undefined, dialectGiven);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      return fail('conf', error.message);
    }
  })();
  const cpu = (() => {
    try {
      return parseCpu(options.cpu ?? 'rv64');
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      return fail('cpu', error.message);
    }
  })();
  if (options.schedule !== undefined && (options.harts ?? 1) === 1)
    fail('schedule', 'one hart has one order: give harts 2 or more');
  checkFlags(options.cflags);
  return {
    dialect: parts.dialect,
    conf: options.conf ?? parts.dialect,
    kcov: 'device',
    engine: 'jit',
    smp: options.harts ?? 1,
    ...(options.schedule !== undefined && { schedule: parseSchedule(options.schedule) }),
    cpu,
    memory: (options.memory ?? MEMORY) * MIB,
    icount: options.icount ?? 0,
    maxInsns: options['max-insns'] ?? MAX_INSNS,
    cflags: options.cflags ?? [],
    trace,
    env: options.env ?? {},
  };
}

interface Parts {
  readonly images: Map<string, Uint8Array>;
  readonly sources: Map<string, Uint8Array>;
}
type Fail = (key: string, why: string) => never;

async function prepareProgram(
  name: string,
  options: ProgramOptions,
  folder: string,
  { images, sources }: Parts,
  fail: Fail,
): Promise<PlannedProgram> {
  const choice = machineOf(options, fail);
  const source = isAbsolute(options.source) ? options.source : join(folder, options.source);
  const guest = await prepareGuest(source, options.args ?? [], {
    ...choice,
    ...(options.append !== undefined && { append: options.append }),
  });
  const run = describe(guest, choice, [], false);
  if (/\.c$/i.test(source)) keepSource(sources, name, source);
  images.set(run.images.kernel.sha256, guest.kernel);
  images.set(run.images.initrd, guest.initrd);
  return { name, run, input: options.input ?? '', vary: options.vary ?? ['seed', 'sched-seed'] };
}

/** Keeps the text of a C file that the variant `name` was compiled from. */
function keepSource(sources: Map<string, Uint8Array>, name: string, path: string): void {
  const text = readInput(path, 'program');
  const known = sources.get(basename(path));
  const isOther = known !== undefined && sha256(known) !== sha256(text);
  sources.set(isOther ? `${name}-${basename(path)}` : basename(path), text);
}

/** For messages: the kernel or the harness that a variant records. */
export const codeTitle = (variant: PlannedVariant): string =>
  codeOf(variant) === variant.run.images.kernel.sha256
    ? kernelTitle(variant.run.kernel.conf)
    : `harness ${variant.run.program.name}`;

/** Errors: UserError if a function that the file names has no points in any image of the plan. */
function checkFunctions({ plan, images }: Prepared, { at }: ReadExperiment): void {
  if (plan.functions.length === 0) return;
  const titles = new Map(plan.variants.map(variant => [codeOf(variant), codeTitle(variant)]));
  const known = new Set<string>();
  for (const [hash, title] of titles)
    for (const name of new Places(images.get(hash)!, title).functionNames()) known.add(name);
  for (const [i, name] of plan.functions.entries())
    if (!known.has(name))
      throw new UserError(
        `${at(['functions', i])}: functions: the ${[...titles.values()].join(', ')} has no function ${name} with a point`,
      );
}

/** Errors: UserError with the place in the file; those of compilers. */
export async function preparePlan(read: ReadExperiment): Promise<Prepared> {
  const prepared = await prepareVariants(read);
  checkFunctions(prepared, read);
  return prepared;
}

async function prepareVariants({ file, folder, at }: ReadExperiment): Promise<Prepared> {
  const parts: Parts = { images: new Map(), sources: new Map() };
  const names = Object.keys(file.variants);
  const common = {
    format: 'kcovbox experiment plan' as const,
    version: 1 as const,
    name: file.name,
    baseline: file.baseline ?? names[0]!,
    budget: file.budget,
    bugs: file.bugs ?? {},
    stopWhenFound: file['stop-when-found'] ?? false,
    functions: file.functions ?? [],
    trials: names.flatMap(variant => seedsOf(file, variant).map((seed, index) => ({ variant, index, seed }))),
  };
  /** Says where in the file an option of a variant is. */
  const failIn =
    (kind: string, name: string): Fail =>
    (key, why) => {
      const isOwn = Object.hasOwn(file.variants[name]!, key);
      throw new UserError(`${at(isOwn ? ['variants', name, key] : [kind, key])}: ${key}: ${why}`);
    };
  if ('fuzz' in file) {
    const { prepareFuzz } = await import('./campaign.ts');
    const variants: PlannedFuzz[] = [];
    for (const [name, own] of Object.entries(file.variants)) {
      const options = { ...file.fuzz, ...own };
      variants.push(await prepareFuzz(name, options, folder, parts.images, failIn('fuzz', name)));
      const { harness, driver = [] } = options;
      for (const source of [...(harness === undefined ? [] : [harness]), ...driver])
        keepSource(parts.sources, name, isAbsolute(source) ? source : join(folder, source));
    }
    return { plan: { ...common, kind: 'fuzz', variants }, ...parts };
  }
  const variants: PlannedProgram[] = [];
  for (const [name, own] of Object.entries(file.variants)) {
    const options = { ...file.program, ...own } as ProgramOptions;
    variants.push(await prepareProgram(name, options, folder, parts, failIn('program', name)));
  }
  return { plan: { ...common, kind: 'program', sample: file.sample ?? null, variants }, ...parts };
}
