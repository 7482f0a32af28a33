// From the file of an experiment to its plan: compiles programs and kernels, and describes each
// variant by the hashes of its images.
import { basename, resolve } from 'node:path';
import { parseCpu, parseSchedule } from '../../emulator/index.ts';
import { codeOf, isOther, seedText, subjectOf, trialSeed } from '../../experiment/plan.ts';
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
import { findCanaries } from '../../run/bugs/canaries.ts';
import { readXv6Tree, sha256 } from '../../toolchain/index.ts';
import { UserError } from '../io/fail.ts';
import { confOf } from '../run/robust.ts';
import type { Prepared } from './folder.ts';
import type { ReadExperiment } from './read.ts';
import { type Fail, placedIn, told } from './target.ts';

const MIB = 2 ** 20;
const MEMORY = 256;
const MAX_INSNS = 100_000_000;

/** Of a trial list. */
const seedsOf = (file: ExperimentFile, variant: string): string[] =>
  file.seeds?.map(given => seedText(BigInt(given))) ??
  Array.from({ length: file.trials! }, (_, index) => trialSeed(BigInt(file.seed ?? 0), variant, index));

function machineOf(options: ProgramOptions, fail: Fail): MachineChoice {
  const isC = /\.c$/i.test(options.source);
  const trace = options.trace ?? isC;
  if (trace && !isC)
    fail('trace', `kcov is compiled into a C program, and ${options.source} is compiled already`);
  const { dialect: dialectGiven, cflags = [] } = options;
  const parts = told(fail, 'conf', () =>
    confOf(options.conf ?? dialectGiven ?? 'openbsd', undefined, dialectGiven),
  );
  const cpu = told(fail, 'cpu', () => parseCpu(options.cpu ?? 'rv64'));
  if (options.schedule !== undefined && (options.harts ?? 1) === 1)
    fail('schedule', 'one hart has one order: give harts 2 or more');
  told(fail, 'cflags', () => checkFlags(cflags));
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
    cflags,
    trace,
    env: options.env ?? {},
  };
}

interface Parts {
  readonly images: Map<string, Uint8Array>;
  readonly sources: Map<string, Uint8Array>;
}

async function prepareProgram(
  name: string,
  options: ProgramOptions,
  folder: string,
  { images, sources }: Parts,
  fail: Fail,
): Promise<PlannedProgram> {
  const choice = machineOf(options, fail);
  const source = placedIn(folder)(options.source);
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

/** Keeps the sources of xv6 that the kernel of the variant `name` was compiled from. */
function keepTree(sources: Map<string, Uint8Array>, name: string, path: string): void {
  const tree = readXv6Tree(path);
  const folder = basename(resolve(path));
  const known = [...sources].filter(([file]) => file.startsWith(`${folder}/`));
  const hashOf = (bytes: Uint8Array | undefined) => bytes && sha256(bytes);
  const isSame =
    known.length === tree.size &&
    known.every(([file, bytes]) => hashOf(tree.get(file.slice(folder.length + 1))) === sha256(bytes));
  const place = known.length === 0 || isSame ? folder : `${name}-${folder}`;
  for (const [file, bytes] of tree) sources.set(`${place}/${file}`, bytes);
}

/** Errors: UserError for a historical bug that no variant's kernel can show. */
function checkCanaries(
  bugs: ExperimentFile['bugs'],
  variants: readonly PlannedFuzz[],
  images: ReadonlyMap<string, Uint8Array>,
  at: ReadExperiment['at'],
): void {
  const [bug] = Object.entries(bugs ?? {}).find(([, { canary }]) => canary !== undefined) ?? [];
  if (bug === undefined) return;
  const hasBugs = variants.some(
    variant => variant.target === undefined && findCanaries(images.get(codeOf(variant))!) !== undefined,
  );
  if (!hasBugs)
    throw new UserError(
      `${at(['bugs', bug, 'canary'])}: canary: no variant has a kernel with historical bugs; give conf: linux+bugs`,
    );
}

/** For messages: the image with the points that a variant records. */
export function codeTitle(variant: PlannedVariant): string {
  if (isOther(variant)) return variant.symbols === undefined ? `kernel ${subjectOf(variant)}` : 'vmlinux';
  const isHarness = 'target' in variant && variant.target === 'harness';
  return isHarness ? `harness ${variant.run.program.name}` : kernelTitle(variant.run.kernel.conf);
}

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
      const placed = placedIn(folder);
      const fail = failIn('fuzz', name);
      variants.push(await prepareFuzz(name, { options, placed, fail }, parts.images));
      const { harness, driver = [], xv6 } = options;
      for (const source of [...(harness === undefined ? [] : [harness]), ...driver])
        keepSource(parts.sources, name, placed(source));
      if (xv6 !== undefined) keepTree(parts.sources, name, placed(xv6));
    }
    checkCanaries(common.bugs, variants, parts.images, at);
    return { plan: { ...common, kind: 'fuzz', variants }, ...parts };
  }
  const variants: PlannedProgram[] = [];
  for (const [name, own] of Object.entries(file.variants)) {
    const options = { ...file.program, ...own } as ProgramOptions;
    variants.push(await prepareProgram(name, options, folder, parts, failIn('program', name)));
  }
  return { plan: { ...common, kind: 'program', sample: file.sample ?? null, variants }, ...parts };
}
