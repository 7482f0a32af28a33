// The worker of the page: owns the machine, answers one request at a time.
import { CoverageError } from '../../coverage/index.ts';
import { DebugError } from '../../debug/error.ts';
import { HostError, isElf, KcovboxError } from '../../emulator/index.ts';
import type { Capsule } from '../../run/capsule/index.ts';
import type { Answer, Focus, RequestName, Requests } from '../protocol.ts';
import { checkLength, fromAddress, toAddress, UNITS_MAX } from './address.ts';
import { arrived } from './host.ts';
import { kernelOf, othersOf } from './images.ts';
import { LineStates } from './lines.ts';
import { type Facts, type Images, OpenedRun, readCapsule } from './opened.ts';
import { recordProgram } from './record.ts';
import { Sources } from './sources.ts';

type Handlers = {
  readonly [N in RequestName]: (args: Requests[N][0]) => Requests[N][1] | Promise<Requests[N][1]>;
};

/** A capsule with its images, before its run. */
interface Prepared {
  readonly capsule: Capsule;
  readonly images: Images;
  readonly facts: Facts;
  readonly unitsMax: number | undefined;
  /** Images that the page has. */
  readonly known: ReadonlySet<string>;
}

let prepared: Prepared | undefined;
/** The run of `prepared`. */
let current: OpenedRun | undefined;

function made(): Prepared {
  if (!prepared) throw new KcovboxError('input', 'no capsule is open');
  return prepared;
}

function run(): OpenedRun {
  if (!current) throw new KcovboxError('input', 'no capsule is open');
  return current;
}

/** A focus with the variables of its frame, which may be in a part that is loaded late. */
async function withState(focus: Focus): Promise<Focus> {
  const { kernel } = made().images;
  if (focus.variables || !kernel) return focus;
  run().takeWhole(await kernel.whole());
  return run().focus();
}

const HANDLERS: Handlers = {
  async prepare({ capsule: given, name, assets, texts, dialect }) {
    current = undefined; // its memory can be used again
    prepared = undefined;
    const isAddress = typeof given === 'string';
    const isProgram = !isAddress && isElf(given);
    const bytes = isAddress
      ? fromAddress(given)
      : isProgram
        ? await recordProgram(given, name, assets, dialect)
        : given;
    const capsule = readCapsule(bytes, name);
    if (isAddress) checkLength(capsule);
    const rest = othersOf(capsule, assets);
    rest.catch(() => {}); // the kernel's fault is said first
    const kernel = await kernelOf(capsule, assets);
    const states = kernel?.elf && new LineStates(kernel.elf, kernel);
    const others = await rest;
    const isOfPage = assets.kernels.some(({ sha256 }) => sha256 === capsule.part('kernel.bin')?.sha256);
    const sources = new Sources(assets, texts);
    prepared = {
      capsule,
      images: { kernel, others },
      facts: { states, sources, isOfPage, syscalls: assets.syscalls },
      unitsMax: isAddress ? UNITS_MAX : undefined,
      known: new Set([...assets.kernels, ...assets.images].map(image => image.sha256)),
    };
    return undefined;
  },
  open() {
    const { capsule, images, facts, unitsMax } = made();
    current = new OpenedRun(capsule, images, facts, unitsMax);
    return current.summary;
  },
  details: () => run().details,
  functions: ({ measure }) => run().functions(measure),
  calls: () => run().calls(),
  files: ({ measure }) => run().files(measure),
  lines: ({ measure, path }) => run().lines(measure, path),
  sources({ texts }) {
    made().facts.sources.add(texts); // its run may not have begun
    current?.forgetProgramLines();
    return current?.strangers(texts) ?? [];
  },
  strangers: () => current?.strangers() ?? [],
  seek: ({ unit, hart }) => run().seek(unit, hart),
  look: ({ hart, level }) => run().look(hart, level),
  state: () => withState(run().focus()),
  move: motion => run().move(motion),
  breakpoints: ({ places }) => run().setBreakpoints(places),
  share() {
    const { capsule, known } = made();
    const names = capsule.manifest.parts.filter(part => known.has(part.sha256)).map(({ name }) => name);
    const thin = capsule.without(new Set(names));
    return { run: toAddress(thin, capsule.manifest.outcome), bytes: thin.length };
  },
  async file() {
    const {
      capsule,
      images: { kernel, others },
    } = made();
    const images = new Map(others);
    if (kernel) images.set('kernel.bin', await kernel.whole());
    return capsule.with(images);
  },
  moments: ({ place }) => run().moments(place),
  buffer: ({ from }) => run().buffer(from),
  async follow({ what }) {
    // It may be a variable of the kernel.
    if (!/^[$@]/.test(what)) await withState(run().focus());
    try {
      run().data.follow(what);
    } catch (error) {
      throw error instanceof DebugError ? new DebugError(`${what}: ${error.message}`) : error;
    }
    return undefined;
  },
  datum: () => run().data.view(),
  write: ({ direction }) => run().data.write(direction),
};

/** One line. Anything that a person cannot correct is a defect of ours, and says so. */
function lineOf(error: unknown): string {
  const isExpected = [KcovboxError, HostError, CoverageError, DebugError].some(kind => error instanceof kind);
  const text = error instanceof Error ? error.message : String(error);
  return isExpected || (error instanceof Error && error.constructor === Error)
    ? text
    : `internal error: ${text}`;
}

// Requests are answered in order: each begins when the one before it has ended.
let last: Promise<unknown> = Promise.resolve();

self.onmessage = ({ data }) => {
  if ('path' in data) {
    arrived(data);
    return;
  }
  last = last.then(async () => {
    let answer: Answer;
    try {
      const handle = HANDLERS[data.name] as (args: unknown) => unknown;
      answer = { id: data.id, ok: true, value: await handle(data.args) };
    } catch (error) {
      answer = { id: data.id, ok: false, error: lineOf(error) };
    }
    self.postMessage(answer);
  });
};
