// The worker of the page: owns the machine, answers one request at a time.
import { CoverageError } from '../../coverage/index.ts';
import { DebugError } from '../../debug/expression.ts';
import { HostError, KcovboxError } from '../../emulator/index.ts';
import type { Answer, Assets, RequestName, Requests } from '../protocol.ts';
import { fetched, fetchPacked, sha256 } from './host.ts';
import { OpenedRun, readCapsule } from './opened.ts';

type Handlers = {
  readonly [N in RequestName]: (args: Requests[N][0]) => Requests[N][1] | Promise<Requests[N][1]>;
};

let current: OpenedRun | undefined;
let sources: { path: string; texts: Promise<Record<string, string>> } | undefined;

function run(): OpenedRun {
  if (!current) throw new KcovboxError('input', 'no capsule is open');
  return current;
}

/** All parts of a kernel image, checked. */
async function kernelOf(hash: string, assets: Assets, base: string): Promise<Uint8Array> {
  const known = assets.kernels.find(kernel => kernel.sha256 === hash);
  if (!known)
    throw new KcovboxError(
      'input',
      `the capsule has no kernel, and this page has none with sha256 ${hash.slice(0, 16)}...: record it without --thin`,
    );
  const parts = await Promise.all(known.parts.map(path => fetchPacked(new URL(path, base).href)));
  const kernel = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    kernel.set(part, at);
    at += part.length;
  }
  if (sha256(kernel) !== hash) throw new KcovboxError('input', 'the kernel beside this page is damaged');
  return kernel;
}

function sourcesOf(path: string, base: string): Promise<Record<string, string>> {
  if (sources?.path !== path) {
    const texts = fetchPacked(new URL(path, base).href).then(
      bytes => JSON.parse(new TextDecoder().decode(bytes)) as Record<string, string>,
    );
    sources = { path, texts };
  }
  return sources.texts;
}

const HANDLERS: Handlers = {
  async open({ capsule: bytes, name, assets, base, texts: own }) {
    current = undefined; // its memory can be used again
    const texts = sourcesOf(assets.sources, base);
    const capsule = readCapsule(bytes, name);
    const { run: description } = capsule.manifest;
    if (!capsule.part('initrd.bin')?.isPresent)
      throw new KcovboxError('input', `${name} does not have its program: record it without --thin`);
    const kernel = capsule.part('kernel.bin')?.isPresent
      ? capsule.read('kernel.bin')
      : await kernelOf(kernelHash(description), assets, base);
    const images = { kernel, initrd: capsule.read('initrd.bin') };
    current = new OpenedRun(capsule, images, { ...(await texts), ...own }, assets.syscalls);
    return { ...current.summary, files: fetched };
  },
  files: ({ measure }) => run().states.files(measure),
  lines: ({ measure, path }) => run().lines(measure, path),
  seek: ({ unit, hart }) => run().seek(unit, hart),
  look: ({ hart, level }) => run().look(hart, level),
  move: motion => run().move(motion),
  breakpoints: ({ places }) => run().setBreakpoints(places),
  moments: ({ place }) => run().moments(place),
  lastWrite: ({ what }) => run().lastWrite(what),
};

const kernelHash = (description: ReturnType<typeof readCapsule>['manifest']['run']): string =>
  description.format === 'kcovbox run' ? description.images.kernel.sha256 : '';

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
