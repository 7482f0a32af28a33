// The worker of the page: owns the machine, answers one request at a time.
import { CoverageError } from '../../coverage/index.ts';
import { DebugError } from '../../debug/expression.ts';
import { HostError, KcovboxError } from '../../emulator/index.ts';
import type { Capsule } from '../../run/capsule/index.ts';
import type { Answer, Assets, RequestName, Requests } from '../protocol.ts';
import { checkLength, fromAddress, toAddress, UNITS_MAX } from './address.ts';
import { Beside, fetched, sha256 } from './host.ts';
import { type Images, OpenedRun, readCapsule } from './opened.ts';

type Handlers = {
  readonly [N in RequestName]: (args: Requests[N][0]) => Requests[N][1] | Promise<Requests[N][1]>;
};

/** The images of a run, as messages name them. */
const IMAGES = { 'kernel.bin': 'kernel', 'initrd.bin': 'program' } as const;

let current: OpenedRun | undefined;
/** The parts of `current`. */
let opened: { capsule: Capsule; images: Images; known: ReadonlySet<string> } | undefined;
let sources: { path: string; texts: Promise<Record<string, string>> } | undefined;

function made(): NonNullable<typeof opened> {
  if (!opened) throw new KcovboxError('input', 'no capsule is open');
  return opened;
}

function run(): OpenedRun {
  if (!current) throw new KcovboxError('input', 'no capsule is open');
  return current;
}

/** An image of the capsule, or the one of this page that has its hash: all parts of it, checked. */
async function imageOf(
  capsule: Capsule,
  part: keyof typeof IMAGES,
  assets: Assets,
  beside: Beside,
): Promise<Uint8Array> {
  const { isPresent, sha256: hash } = capsule.part(part)!;
  if (isPresent) return capsule.read(part);
  const known = assets.images.find(image => image.sha256 === hash);
  if (!known)
    throw new KcovboxError(
      'input',
      `the capsule has no ${IMAGES[part]}, and this page has none with sha256 ${hash.slice(0, 16)}...: record it without --thin`,
    );
  const parts = await Promise.all(known.parts.map(path => beside.read(path)));
  const image = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const bytes of parts) {
    image.set(bytes, at);
    at += bytes.length;
  }
  if (sha256(image) !== hash)
    throw new KcovboxError('input', `the ${IMAGES[part]} beside this page is damaged: build the page again`);
  return image;
}

function sourcesOf(path: string, beside: Beside): Promise<Record<string, string>> {
  if (sources?.path !== path) {
    const texts = beside
      .read(path)
      .then(bytes => JSON.parse(new TextDecoder().decode(bytes)) as Record<string, string>);
    sources = { path, texts };
  }
  return sources.texts;
}

const HANDLERS: Handlers = {
  async open({ capsule: given, name, assets, base, inlined, texts: own }) {
    current = undefined; // its memory can be used again
    opened = undefined;
    const isAddress = typeof given === 'string';
    const capsule = readCapsule(isAddress ? fromAddress(given) : given, name);
    if (isAddress) checkLength(capsule);
    const beside = new Beside(base, inlined);
    const texts = sourcesOf(assets.sources, beside);
    const [kernel, initrd] = await Promise.all([
      imageOf(capsule, 'kernel.bin', assets, beside),
      imageOf(capsule, 'initrd.bin', assets, beside),
    ]);
    const images = { kernel, initrd };
    current = new OpenedRun(
      capsule,
      images,
      { ...(await texts), ...own },
      assets.syscalls,
      isAddress ? UNITS_MAX : undefined,
    );
    opened = { capsule, images, known: new Set(assets.images.map(image => image.sha256)) };
    return { ...current.summary, files: fetched };
  },
  files: ({ measure }) => run().states.files(measure),
  lines: ({ measure, path }) => run().lines(measure, path),
  seek: ({ unit, hart }) => run().seek(unit, hart),
  look: ({ hart, level }) => run().look(hart, level),
  move: motion => run().move(motion),
  breakpoints: ({ places }) => run().setBreakpoints(places),
  share() {
    const { capsule, known } = made();
    const names = capsule.manifest.parts.filter(part => known.has(part.sha256)).map(({ name }) => name);
    const thin = capsule.without(new Set(names));
    return { run: toAddress(thin, capsule.manifest.outcome), bytes: thin.length };
  },
  file() {
    const { capsule, images } = made();
    return capsule.with(
      new Map([
        ['kernel.bin', images.kernel],
        ['initrd.bin', images.initrd],
      ]),
    );
  },
  moments: ({ place }) => run().moments(place),
  lastWrite: ({ what }) => run().lastWrite(what),
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
