// A capsule of `kcovbox run`, with its images.
import { KcovboxError } from '../../emulator/base/errors.ts';
import { inCapsule, parseCapsule, UNNAMED } from '../../host/capsule.ts';
import { capsuleImages } from '../../host/capsule-images.ts';
import type { RecordedFiles } from './options.ts';

/** @internal The parts of a capsule, all checked. `verb`: of the command that runs others. */
export async function recordedRun(capsule: Uint8Array, options: RecordedFiles, verb: string) {
  const parsed = parseCapsule(capsule, UNNAMED);
  const { run: description } = parsed.manifest;
  if (description.format !== 'kcovbox run')
    throw new KcovboxError('input', `the capsule is of kcovbox boot: kcovbox ${verb} takes it`);
  const journal = inCapsule(UNNAMED, () => parsed.journal());
  const console = inCapsule(UNNAMED, () => parsed.console());
  const images = await capsuleImages(UNNAMED, parsed, {
    files: options.files ?? [],
    kernel: options.kernel,
    cflags: options.cflags ?? [],
    kernelHint: 'give it with the option kernel',
    fileHint: name => `give ${name} with the option files`,
  });
  return { parsed, description, journal, console, images };
}
