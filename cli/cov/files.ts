// Inputs and outputs that the `cov` verbs share: traces, the image they were recorded on, source
// text, colours, progress.
import { basename } from 'node:path';
import { SingleBar } from 'cli-progress';
import type { Command } from 'commander';
import picocolors from 'picocolors';
import {
  checkImage,
  Elf,
  type KeepPoint,
  keepPoint,
  type Palette,
  PLAIN,
  proofOf,
  readTrace,
  type Selection,
  shortId,
  type Trace,
} from '../../coverage/index.ts';
import { visible } from '../../emulator/base/words.ts';
import { readInput } from '../../host/input.ts';
import { type SourceOptions, sourceReader } from '../../host/sources.ts';
import { standardError, tell } from '../../toolchain/index.ts';
import { printableLine, UserError } from '../io/fail.ts';
import { repeated, repeatedFolder } from '../io/repeated.ts';
import { findById } from './find-image.ts';

/** Of an argument, for the help. */
export const TRACES = '.kcov files of one image; several count together';

export interface ImageOptions {
  kernel?: string;
}

export interface SelectOptions {
  file?: string[];
  function?: string;
  pc?: string[];
}

/** "-F GLOB -f REGEX"; '' for options that select everything. */
export const describeSelection = (options: SelectOptions): string =>
  [
    ...(options.file ?? []).map(glob => `-F ${glob}`),
    ...(options.function === undefined ? [] : [`-f ${options.function}`]),
    ...(options.pc ?? []).map(range => `-p ${range}`),
  ].join(' ');

/** Errors: a selection that matches nothing in the image. */
export function checkSelected(count: number, options: SelectOptions): void {
  const asked = describeSelection(options);
  if (count === 0 && asked !== '')
    throw new UserError(`nothing instrumented matches ${asked}; cov report without it lists the files`);
}

export const addImageOption = (command: Command): Command =>
  command.option(
    '-k, --kernel <elf>',
    'the image that was traced (default: the kernel, built here or packaged, that matches)',
  );

export const addSelectOptions = (command: Command): Command =>
  command
    .option('-F, --file <glob>', 'only points with a frame in these source files (repeatable)', repeated)
    .option('-f, --function <regex>', 'only points with a frame in these functions')
    .option('-p, --pc <range>', 'only points in 0xLOW-0xHIGH (repeatable)', repeated);

export const addSourceOption = (command: Command): Command =>
  command.option(
    '-S, --source <dir>',
    'also look for source files in this folder (repeatable)',
    repeatedFolder,
  );

export function selection(options: SelectOptions): KeepPoint | undefined {
  const chosen: Selection = { files: options.file, functions: options.function, pcs: options.pc };
  return keepPoint(chosen);
}

export function openTrace(path: string): Trace {
  return readTrace(readInput(path, 'trace'), path);
}

export function openElf(path: string): Elf {
  return new Elf(readInput(path, 'image'), path);
}

/** Errors: traces of different images, by their files. A trace that names no image fits to all. */
export function checkSameImage(traces: readonly { readonly trace: Trace; readonly path: string }[]): void {
  const named = traces.filter(({ trace }) => trace.header.image !== '');
  const odd = named.find(({ trace }) => trace.header.image !== named[0]!.trace.header.image);
  if (odd) {
    throw new UserError(
      `${named[0]!.path} and ${odd.path} were recorded on different images; their PCs cannot be combined`,
    );
  }
}

/** The image of a trace is not among the kernels that were built here or packaged. */
export class MissingImage extends UserError {}

/**
 * The image of a trace: the given one, or the kernel, built here or packaged, with the identity
 * that the trace names.
 */
export function imageOf(traces: readonly Trace[], options: ImageOptions): Elf {
  if (options.kernel) {
    const elf = openElf(options.kernel);
    for (const trace of traces) checkImage(trace, elf);
    return elf;
  }
  const wanted = traces.find(trace => trace.header.image !== '')?.header.image;
  const found = wanted ? findById(wanted) : undefined;
  if (found) return found;
  const which = wanted
    ? `no kernel built here or packaged is ${shortId(wanted)}, on which the trace was recorded`
    : 'the trace names no image';
  throw new MissingImage(`${which}: give it with -k`);
}

/** Source text for reports; a line on standard error says that a file of it has changed. */
export function openSources(
  options: SourceOptions,
  image?: Uint8Array,
): (path: string) => string | undefined {
  const told = new Set<string>();
  const once = (kind: string, text: string): void => {
    if (!told.has(kind)) tell(`kcovbox: ${text}\n`);
    told.add(kind);
  };
  return sourceReader(
    options,
    image,
    path =>
      once(
        'changed',
        `${visible(path)} has changed since the image was built: such files are shown ` +
          'without their text; run the program again, or give cov -S with a folder of the old ones',
      ),
    text => once('doubt', text),
  );
}

/** Colours for standard output: picocolors knows NO_COLOR, FORCE_COLOR and terminals. */
export function palette(): Palette {
  if (!picocolors.isColorSupported || (!process.stdout.isTTY && !process.env['FORCE_COLOR'])) return PLAIN;
  const { green: good, yellow: warn, red: bad, dim, bold } = picocolors;
  return { good, warn, bad, dim, bold };
}

/** Prints lines; a reader that closes the pipe early (`| head`) is not an error. */
export function printLines(lines: Iterable<string>): void {
  let pending = '';
  for (const line of lines) {
    pending += `${printableLine(line)}\n`;
    if (pending.length > 1 << 16) {
      process.stdout.write(pending);
      pending = '';
    }
  }
  process.stdout.write(pending);
}

/** Chunks passed through, with a progress line on a terminal once they have taken a second. */
export function* withProgress(label: string, chunks: Iterable<Uint8Array>): Generator<Uint8Array> {
  const bar = standardError().isTTY
    ? new SingleBar({ format: `${label} {duration_formatted} {value} KiB`, clearOnComplete: true })
    : undefined;
  const start = Date.now();
  let shown = false;
  let bytes = 0;
  for (const chunk of chunks) {
    bytes += chunk.length;
    if (bar && !shown && Date.now() - start > 1000) {
      bar.start(0, 0);
      shown = true;
    }
    if (shown) bar!.update(bytes >> 10);
    yield chunk;
  }
  if (shown) bar!.stop();
}

/** A test name for a trace that carries none: its file without the suffix. */
export function traceName(path: string): string {
  return basename(path).replace(/\.kcov$/, '');
}

/**
 * Says on standard error which traces keep a merged one from proving of lines that they did not
 * run, as the others could alone.
 */
export function tellUnproven(parts: readonly { readonly trace: Trace; readonly path: string }[]): void {
  const unproven = parts.filter(({ trace }) => !proofOf(trace).absence);
  if (unproven.length === parts.length) return;
  for (const { trace, path } of unproven)
    tell(
      `kcovbox: ${visible(path)}${trace.header.filtered ? ' is filtered and' : ''} does not show which ` +
        'lines did not run; so the merged trace does not either\n',
    );
}
