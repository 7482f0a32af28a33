// Judging in the page: the machine is here, the compiler is that of `kcovbox serve`.
import { Elf, Sha256 } from '../../coverage/index.ts';
import { KcovboxError } from '../../emulator/index.ts';
import { textOf } from '../../grade/judge/lab.ts';
import type { BuildRequest, PortableLab, Refusal, Texts } from '../../grade/judge/portable.ts';
import type { Workshop } from '../../grade/judge/workshop.ts';
import { describeRun } from '../../host/description.ts';
import { STATE_HASH, writeCapsule } from '../../run/capsule/index.ts';
import { CompileError } from '../../toolchain/errors.ts';

const REFUSED = 422;

export const sha256 = (contents: string | Uint8Array): string =>
  new Sha256().update(typeof contents === 'string' ? new TextEncoder().encode(contents) : contents).hex();

/** Of several parts, each with a NUL behind it, as toolchain/hash.ts does it. */
export function sha256OfParts(...parts: (string | Uint8Array)[]): string {
  const hash = new Sha256();
  for (const part of parts)
    hash.update(typeof part === 'string' ? new TextEncoder().encode(part) : part).update(new Uint8Array(1));
  return hash.hex();
}

const textsOf = (files: ReadonlyMap<string, Uint8Array>): Texts =>
  Object.fromEntries([...files].map(([path, bytes]) => [path, textOf(bytes)]));

/** Errors: CompileError with the words of the compiler; one line, when the host does not answer. */
async function built(builder: string, body: string): Promise<Uint8Array> {
  const response = await fetch(builder, { method: 'POST', body }).catch(() => undefined);
  if (!response) throw new KcovboxError('input', 'kcovbox serve does not answer: start it again');
  if (response.ok) return new Uint8Array(await response.arrayBuffer());
  const said = await response.text();
  if (response.status !== REFUSED) throw new KcovboxError('input', said.trim());
  const { message, detail } = JSON.parse(said) as Refusal;
  throw new CompileError(message, detail);
}

/** `builder`: an address; undefined: nothing can be compiled. */
export function pageWorkshop(lab: PortableLab, kcovbox: string, builder: string | undefined): Workshop {
  // A check that fails looks for its path, and runs the same images again.
  const known = new Map<string, Promise<Uint8Array>>();
  const build = (request: BuildRequest): Promise<Uint8Array> => {
    if (builder === undefined) throw new KcovboxError('input', 'this page has no compiler');
    const body = JSON.stringify(request);
    let made = known.get(body);
    if (!made) known.set(body, (made = built(builder, body)));
    return made;
  };
  return {
    sha256,
    source: path => lab.sources[path],
    folder: path => lab.folders[path] ?? [],
    kernel: (conf, overlay) => build({ kind: 'kernel', conf, files: textsOf(overlay) }),
    program: (files, name, dialect) => build({ kind: 'program', name, dialect, files: textsOf(files) }),
    device(name) {
      throw new KcovboxError('input', `the page loads no device: ${name}`);
    },
    capsule({ images, choice, outcome, journal, printed }) {
      const names = {
        kernel: { id: new Elf(images.kernel, 'kernel').imageId, sha256: sha256(images.kernel) },
        program: sha256(images.program),
        initrd: sha256(images.initrd),
      };
      const contents = {
        ...{ kcovbox, stateHash: STATE_HASH, outcome, journal },
        run: describeRun(names, images, choice, journal, false, sha256),
        printed: { text: printed, bytes: printed.length },
        images: new Map([
          ['kernel.bin', images.kernel],
          ['initrd.bin', images.initrd],
        ]),
      };
      return writeCapsule(contents, sha256);
    },
    turn: () => Promise.resolve(), // a page that wants no more ends the worker
  };
}
