// The folder of a campaign. Its journal, epochs.jsonl, gets one line for each epoch; all other
// files but the images follow from it. A process that is killed leaves a line that is not whole at
// most, which the next one removes.
import { appendFileSync, existsSync, readdirSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { extname, join, resolve } from 'node:path';
import type * as z from 'zod';
import { KcovboxError } from '../../emulator/index.ts';
import {
  Choice,
  type Crash,
  type Descriptions,
  inputOf,
  parseProgram,
  programC,
  programXv6C,
} from '../../fuzz/index.ts';
import { type DescriptionTexts, loadDescriptions } from '../../host/fuzz/descriptions.ts';
import { decodeText, readInput, readText } from '../../host/input.ts';
import { checkTrust } from '../../host/trust.ts';
import { canonicalJson } from '../../run/canonical.ts';
import {
  type BugFind,
  type CampaignEpoch,
  type CampaignManifest,
  campaignDescriptions,
  campaignEpoch,
  campaignManifest,
} from '../../run/fuzz/schema.ts';
import { makeFolders, makeWritable, sha256, systemReason } from '../../toolchain/index.ts';
import { UserError } from '../io/fail.ts';
import { undoOf, writeFile, writeFiles } from '../io/output.ts';
import type { DeviceFile } from './worker.ts';

const MANIFEST = 'campaign.json';
const JOURNAL = 'epochs.jsonl';
const DEVICES = 'devices';
/** A folder for each historical bug that was triggered. */
export const BUGS = 'bugs';
const MANIFEST_MAX = 1 << 20;
const IMAGE_MAX = 256 * 2 ** 20;
const JOURNAL_MAX = 2 ** 30;
const TITLE_BYTES_MAX = 1 << 16;
const LINE_FEED = 0x0a;

/** A campaign as its folder has it. */
export interface Stored {
  readonly path: string;
  readonly manifest: CampaignManifest;
  readonly kernel: Uint8Array;
  readonly initrd: Uint8Array;
  readonly devices: readonly DeviceFile[];
  readonly texts: DescriptionTexts;
  readonly descriptions: Descriptions;
  readonly epochs: readonly CampaignEpoch[];
  /** The length of the journal up to the last of these epochs, in bytes. */
  readonly journalBytes: number;
}

export const isCampaign = (path: string): boolean => existsSync(join(path, MANIFEST));

/** The images of a campaign, and the devices of the user's own. */
export type Images = Pick<Stored, 'kernel' | 'initrd' | 'devices'>;

/** The file of a device, by the path that a person gave; what is no JavaScript is TypeScript. */
const deviceName = ({ name, path }: DeviceFile): string =>
  `${name}${/\.[cm]?js$/.test(path) ? extname(path) : '.ts'}`;

/** Begins a campaign in a folder that is new or empty. */
export function createFolder(
  path: string,
  manifest: Omit<CampaignManifest, 'kernel' | 'initrd' | 'descriptions' | 'devices'>,
  { kernel, initrd, devices }: Images,
  texts: DescriptionTexts,
): Stored {
  const parsedTexts = loadDescriptions(texts);
  new Choice(parsedTexts, manifest.config.calls); // throws where a pattern matches none
  const descriptions = `${canonicalJson(texts)}\n`;
  const folder = resolve(path); // fails in a current folder that is no longer there
  const { undo, undoFolders } = undoOf(folder);
  try {
    makeWritable(folder);
    if (readdirSync(folder).length > 0) throw new UserError(`fuzz: ${path} is not empty; give a new folder`);
  } catch (error) {
    undoFolders();
    if (error instanceof UserError) throw error;
    throw new UserError(`fuzz: cannot write ${path}: ${reason(error)}`);
  }
  const listed = devices.map(device => ({
    file: deviceName(device),
    params: device.params,
    sha256: sha256(device.bytes),
  }));
  const whole: CampaignManifest = {
    ...manifest,
    ...(listed.length > 0 && { devices: listed }),
    kernel: sha256(kernel),
    initrd: sha256(initrd),
    descriptions: sha256(descriptions),
  };
  claim(path);
  try {
    writeFile(join(path, 'kernel.bin'), kernel);
    writeFile(join(path, 'initrd.bin'), initrd);
    writeFile(join(path, 'descriptions.json'), descriptions);
    if (devices.length > 0) makeFolders(join(path, DEVICES));
    for (const device of devices) writeFile(join(path, DEVICES, deviceName(device)), device.bytes);
    // The manifest last: with it the folder is a campaign.
    writeFile(join(path, MANIFEST), `${JSON.stringify(whole, null, 2)}\n`);
  } catch (error) {
    undo();
    throw error;
  }
  const images = { kernel, initrd, devices };
  return { path, manifest: whole, ...images, texts, descriptions: parsedTexts, epochs: [], journalBytes: 0 };
}

/**
 * Takes an empty folder for a campaign: of commands that begin one in it at the same time, one
 * makes the journal. Errors: UserError for the others.
 */
function claim(path: string): void {
  try {
    writeFileSync(join(path, JOURNAL), '', { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST')
      throw new UserError(`fuzz: ${path} is not empty; give a new folder`);
    throw new UserError(`fuzz: cannot write ${join(path, JOURNAL)}: ${reason(error)}`);
  }
}

const reason = (error: unknown): string => {
  const { code, message } = error as NodeJS.ErrnoException;
  return systemReason(code) ?? message;
};

function parsed<T>(schema: z.ZodType<T>, text: string, where: string): T {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new UserError(`fuzz: ${where} is damaged: not JSON`);
  }
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const { path, message } = result.error.issues[0]!;
  throw new UserError(`fuzz: ${where} is damaged: ${[...path, message].join(': ')}`);
}

/** Files behind a link lie elsewhere. Errors: UserError with a link in the folder. */
function refuseLinks(path: string): void {
  const entries = readdirSync(path, { recursive: true, withFileTypes: true });
  const link = entries.find(entry => entry.isSymbolicLink());
  if (!link) return;
  const place = join(link.parentPath ?? path, link.name);
  throw new UserError(`fuzz: ${place} is a symbolic link, which leads elsewhere; remove it`);
}

/** Reads and checks a campaign. Errors: UserError with the file; as `checkTrust`. */
export function readFolder(path: string): Stored {
  if (!isCampaign(path)) throw new UserError(`fuzz: ${path} has no ${MANIFEST}: it is not a campaign`);
  refuseLinks(path);
  const file = join(path, MANIFEST);
  const manifest = parsed(campaignManifest, readText(file, 'campaign', MANIFEST_MAX), file);
  const checked = (name: string, wanted: string): Uint8Array => {
    const bytes = readInput(join(path, name), 'campaign', IMAGE_MAX);
    if (sha256(bytes) !== wanted)
      throw new UserError(`fuzz: ${join(path, name)} is not the file that ${MANIFEST} names`);
    return bytes;
  };
  const kernel = checked('kernel.bin', manifest.kernel);
  const initrd = checked('initrd.bin', manifest.initrd);
  const name = 'descriptions.json';
  const json = new TextDecoder().decode(checked(name, manifest.descriptions));
  const texts = parsed(campaignDescriptions, json, join(path, name));
  const devices = (manifest.devices ?? []).map(({ file, params, sha256: wanted }) => {
    const bytes = checked(join(DEVICES, file), wanted);
    return { name: file.replace(/\..*/, ''), path: join(path, DEVICES, file), bytes, params };
  });
  checkTrust(devices.map(device => device.path));
  const descriptions = loadDescriptions(texts);
  orDamaged(`${file} is damaged: config.calls: `, () => new Choice(descriptions, manifest.config.calls));
  const journal = readJournal(join(path, JOURNAL), descriptions);
  return { path, manifest, kernel, initrd, devices, texts, descriptions, ...journal };
}

/** The lines that are whole. Errors: UserError with the line, and the field of a wrong program. */
function readJournal(path: string, descriptions: Descriptions): Pick<Stored, 'epochs' | 'journalBytes'> {
  if (!existsSync(path)) return { epochs: [], journalBytes: 0 };
  const bytes = readInput(path, 'journal', JOURNAL_MAX);
  const journalBytes = bytes.lastIndexOf(LINE_FEED) + 1;
  const text = decodeText(bytes.subarray(0, journalBytes), path, 'journal');
  const epochs = text
    .split('\n')
    .slice(0, -1)
    .map((line, i) => {
      const epoch = parsed(campaignEpoch, line, `${path}:${i + 1}`);
      if (epoch.epoch !== i) throw new UserError(`fuzz: ${path}:${i + 1} is damaged: epoch ${epoch.epoch}`);
      checkPrograms(epoch, descriptions, `${path}:${i + 1}`);
      return epoch;
    });
  return { epochs, journalBytes };
}

function checkPrograms(epoch: CampaignEpoch, descriptions: Descriptions, where: string): void {
  for (const list of ['entries', 'crashes', 'bugs'] as const)
    for (const [at, { text }] of epoch[list].entries())
      orDamaged(`${where} is damaged: `, () => parseProgram(text, descriptions, `${list}[${at}].text`));
}

/** Says where a value of the folder is that the fuzzer refuses. */
function orDamaged(where: string, check: () => unknown): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof KcovboxError)) throw error;
    throw new UserError(`fuzz: ${where}${error.message}`);
  }
}

export const lineOf = (epoch: CampaignEpoch): string => `${canonicalJson(epoch)}\n`;

/** Removes a line that is not whole, and writes the files that follow from the others. */
export function repairFolder(stored: Stored): void {
  const journal = join(stored.path, JOURNAL);
  if (!existsSync(journal)) writeFile(journal, '');
  const added = readInput(journal, 'journal', JOURNAL_MAX).subarray(stored.journalBytes);
  if (added.includes(LINE_FEED)) throw otherProcess(stored.path);
  if (added.length > 0) truncateSync(journal, stored.journalBytes);
  writeCoverage(stored);
  let count = 0;
  for (const epoch of stored.epochs) count = writeEntries(stored, epoch, count);
}

const HEADER = 'executions,instructions,covered,corpus,crashes\n';

/** coverage.csv: a line for each epoch. */
function writeCoverage({ path, epochs, manifest }: Stored): void {
  const { batches, perBatch } = manifest.config;
  let [corpus, crashes, units] = [0, 0, 0];
  const rows = epochs.map(({ epoch, covered, ...line }) => {
    corpus += line.entries.length;
    crashes += line.crashes.length;
    units += line.units;
    return `${(epoch + 1) * batches * perBatch},${units},${covered},${corpus},${crashes}\n`;
  });
  writeFile(join(path, 'coverage.csv'), HEADER + rows.join(''));
}

const otherProcess = (path: string): UserError =>
  new UserError(`fuzz: ${path}: another process goes on with this campaign; this one ends`);

/** True while no process has added an epoch to the campaign. */
export const isWithoutEpochs = (path: string): boolean =>
  statSync(join(path, JOURNAL), { throwIfNoEntry: false })?.size === 0;

/**
 * Appends an epoch; with it, its programs and crashes. Errors: UserError, also where another
 * process has appended one.
 */
export function appendEpoch(stored: Stored, epoch: CampaignEpoch, corpus: number): Stored {
  const journal = join(stored.path, JOURNAL);
  const line = lineOf(epoch);
  try {
    if (statSync(journal).size !== stored.journalBytes) throw otherProcess(stored.path);
    appendFileSync(journal, line, { flush: true } as object);
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(`fuzz: cannot write ${journal}: ${reason(error)}`);
  }
  const journalBytes = stored.journalBytes + Buffer.byteLength(line);
  const next = { ...stored, epochs: [...stored.epochs, epoch], journalBytes };
  writeEntries(next, epoch, corpus);
  return next;
}

/** When a run ends. */
export const finishFolder = (stored: Stored): void => writeCoverage(stored);

/** The file of the n-th program of a corpus, from 0 on. */
export const entryName = (n: number): string => `${String(n + 1).padStart(6, '0')}.txt`;

function writeEntries(stored: Stored, epoch: CampaignEpoch, from: number): number {
  const corpus = join(stored.path, 'corpus');
  makeFolders(corpus);
  let count = from;
  const files = new Map<string, string>();
  for (const { text } of epoch.entries) {
    const name = entryName(count++);
    if (!existsSync(join(corpus, name))) files.set(name, text);
  }
  if (files.size > 0) writeFiles(corpus, files);
  for (const crash of epoch.crashes) writeCrash(stored, crash);
  for (const find of epoch.bugs) if (find.kind === 'triggered') writeBug(stored, find);
  return count;
}

/** The name of a crash's folder. */
export const slugOf = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 80);

function writeCrash(stored: Stored, { title, text, execution }: Crash): void {
  const folder = crashFolder(join(stored.path, 'crashes', slugOf(title)), `${title}\n`);
  writeFind(folder, { 'title.txt': `${title}\n`, ...filesOf(stored, title, text, execution) });
}

/** Titles may differ in what folder names lack: foo, __foo and _foo. The first one has `base`. */
function crashFolder(base: string, title: string): string {
  for (let n = 1; ; n++) {
    const folder = n === 1 ? base : `${base}-${n}`;
    const file = join(folder, 'title.txt');
    if (!existsSync(file) || readText(file, 'title', TITLE_BYTES_MAX) === title) return folder;
  }
}

/** A historical bug that was triggered. */
function writeBug(stored: Stored, { bug, text, execution }: BugFind): void {
  writeFind(join(stored.path, BUGS, bug), filesOf(stored, bug, text, execution));
}

type Files = Readonly<Record<string, string | Uint8Array>>;

function filesOf({ descriptions, manifest }: Stored, title: string, text: string, execution: number): Files {
  const program = parseProgram(text, descriptions);
  const isHarness = manifest.guest === 'harness';
  const asC = manifest.guest === 'xv6' ? programXv6C : programC;
  return {
    'execution.txt': `${execution}\n`,
    'program.txt': text,
    // For a harness anywhere else: what its last call was given.
    ...(isHarness ? { 'input.bin': inputOf(program) } : { 'repro.c': asC(program, title) }),
  };
}

function writeFind(folder: string, files: Files): void {
  makeFolders(folder);
  for (const [name, contents] of Object.entries(files))
    if (!existsSync(join(folder, name))) writeFile(join(folder, name), contents);
}
