// An experiment as an RO-Crate 1.1: its folder, the measurements, the report, and a description of
// every file in JSON-LD, which repositories of research data read. `reproduce` needs nothing else.
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join, normalize, sep } from 'node:path';
import * as z from 'zod';
import { budgetWords } from '../../experiment/budget.ts';
import { reportPage } from '../../experiment/html/page.ts';
import { trialId } from '../../experiment/plan.ts';
import { reportOf } from '../../experiment/report/data.ts';
import { packageVersion } from '../../host/capsule.ts';
import { readInput, readText } from '../../host/input.ts';
import { firstIssue } from '../../run/issue.ts';
import { sha256 } from '../../toolchain/index.ts';
import { UserError } from '../io/fail.ts';
import { pathWord } from '../io/shell-word.ts';
import { type Folder, jsonText, PLAN, SOURCE } from './folder.ts';
import { PAGE, resultsOf } from './report.ts';
import { csvBytes, parquetBytes } from './table-files.ts';

export const METADATA = 'ro-crate-metadata.json';
export const CSV = 'data.csv';
const PARQUET = 'data.parquet';
const README = 'README.md';

export interface CrateFacts {
  /** YYYY-MM-DD: the crate is published on it. No clock is read. */
  readonly date: string;
  readonly authors: readonly string[];
  readonly license: string | undefined;
}

const TYPES: Readonly<Record<string, string>> = {
  json: 'application/json',
  yaml: 'application/yaml',
  csv: 'text/csv',
  parquet: 'application/vnd.apache.parquet',
  html: 'text/html',
  md: 'text/markdown',
  c: 'text/x-c',
  h: 'text/x-c',
  kcapsule: 'application/zip',
};

/** Words for the list of files. */
function describeFile(path: string): string {
  if (path === SOURCE) return 'the experiment as it was written';
  if (path === PLAN) return 'everything that determines the results';
  if (path === CSV || path === PARQUET) return "the measurements, with FuzzBench's column names";
  if (path === PAGE) return 'the report: figures, tests, finds';
  if (path === README) return 'how to repeat the experiment';
  if (path.startsWith('images/'))
    return 'kernel, disk, root file system or symbols of what ran, named by its SHA-256';
  if (path.startsWith('sources/')) return 'source of a program or kernel that ran';
  return path.endsWith('.kcapsule') ? 'an execution that found a bug' : 'the result of a trial';
}

function readmeText({ plan, hash }: Folder): string {
  const trials = plan.trials.length;
  return `# ${plan.name}

${plan.variants.length} variants (${plan.variants.map(({ name }) => name).join(', ')}), ${trials} trials, each of ${budgetWords(plan.budget)}.
Plan ${hash}, made with kcovbox ${packageVersion()}. Open \`${PAGE}\` for the results.

To repeat all of it in this folder, or a sample, with Node.js 20 or newer and no compiler:

    npx kcovbox@${packageVersion()} experiment reproduce . -o ../again
    npx kcovbox@${packageVersion()} experiment verify --sample 5% .

Every trial must give the same bytes. To repeat one find, see "Which trial found what" in the report.
`;
}

/** The files of a crate by their paths. Errors: UserError if trials are missing. */
export function crateFiles(folder: Folder, facts: CrateFacts): Map<string, Uint8Array> {
  const { plan } = folder;
  const missing = folder.pending(plan.trials).length;
  if (missing > 0)
    throw new UserError(
      `${missing} of ${plan.trials.length} trials are not finished; ` +
        `kcovbox experiment resume ${pathWord(folder.path)} runs them`,
    );
  const results = resultsOf(folder);
  const encoder = new TextEncoder();
  const files = new Map<string, Uint8Array>();
  for (const name of [SOURCE, PLAN]) files.set(name, readInput(join(folder.path, name), 'file'));
  for (const kind of ['images', 'sources'])
    for (const name of namesIn(join(folder.path, kind)))
      files.set(`${kind}/${name}`, readFileSync(join(folder.path, kind, name)));
  for (const trial of plan.trials)
    for (const [name, bytes] of folder.files(trial)) files.set(`trials/${trialId(trial)}/${name}`, bytes);
  files.set(CSV, csvBytes(results));
  files.set(PARQUET, parquetBytes(results));
  files.set(PAGE, encoder.encode(reportPage(reportOf(results))));
  files.set(README, encoder.encode(readmeText(folder)));
  files.set(METADATA, encoder.encode(jsonText(metadataOf(folder, files, facts))));
  return files;
}

/** Paths of the files in a folder, and in its folders. */
function namesIn(path: string): string[] {
  try {
    const paths = readdirSync(path, { recursive: true }) as string[];
    return paths.filter(inside => lstatSync(join(path, inside)).isFile()).sort();
  } catch {
    return [];
  }
}

const reference = (id: string): { '@id': string } => ({ '@id': id });

/** RO-Crate 1.1, https://w3id.org/ro/crate/1.1. */
function metadataOf(
  { plan, hash }: Folder,
  files: ReadonlyMap<string, Uint8Array>,
  facts: CrateFacts,
): unknown {
  const software = `https://www.npmjs.com/package/kcovbox/v/${packageVersion()}`;
  const entities = [...files].map(([path, bytes]) => ({
    '@id': path,
    '@type': 'File',
    name: path,
    description: describeFile(path),
    encodingFormat: TYPES[path.slice(path.lastIndexOf('.') + 1)] ?? 'application/octet-stream',
    contentSize: String(bytes.length),
    sha256: sha256(bytes),
  }));
  const results = [...files.keys()].filter(
    path => path.startsWith('trials/') || path === CSV || path === PAGE,
  );
  const people = facts.authors.map((name, i) => ({ '@id': `#author-${i + 1}`, '@type': 'Person', name }));
  return {
    '@context': 'https://w3id.org/ro/crate/1.1/context',
    '@graph': [
      {
        '@id': METADATA,
        '@type': 'CreativeWork',
        conformsTo: reference('https://w3id.org/ro/crate/1.1'),
        about: reference('./'),
      },
      {
        '@id': './',
        '@type': 'Dataset',
        name: plan.name,
        description: `${plan.variants.length} variants, ${plan.trials.length} trials, each of ${budgetWords(plan.budget)}`,
        identifier: `sha256:${hash}`,
        datePublished: facts.date,
        ...(facts.license !== undefined && { license: reference(facts.license) }),
        ...(people.length > 0 && { author: people.map(person => reference(person['@id'])) }),
        hasPart: entities.map(entity => reference(entity['@id'])),
        mentions: reference('#run'),
      },
      {
        '@id': '#run',
        '@type': 'CreateAction',
        name: 'kcovbox experiment run',
        instrument: reference(software),
        object: [SOURCE, PLAN].map(reference),
        result: results.map(reference),
      },
      {
        '@id': software,
        '@type': 'SoftwareApplication',
        name: 'kcovbox',
        softwareVersion: packageVersion(),
        url: software,
      },
      ...people,
      ...entities,
    ],
  };
}

const entity = z.looseObject({
  '@id': z.string().max(4096),
  '@type': z.union([z.string(), z.array(z.string())]),
  sha256: z.string().optional(),
});
const metadata = z.looseObject({ '@graph': z.array(entity).max(1_000_000) });

const METADATA_MAX = 2 ** 28;

/** Compares every file with its hash in the description. Errors: UserError, one line. */
export function checkCrate(path: string): number {
  const file = join(path, METADATA);
  const text = readText(file, 'crate', METADATA_MAX);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new UserError(`crate ${file}: not JSON; it is damaged`);
  }
  const parsed = metadata.safeParse(value);
  if (!parsed.success) throw new UserError(`crate ${file}: ${firstIssue(parsed.error)}`);
  const files = parsed.data['@graph'].filter(one => one.sha256 !== undefined);
  for (const { '@id': id, sha256: wanted } of files) {
    const inside = normalize(id);
    if (inside.startsWith('..') || inside.startsWith(sep))
      throw new UserError(`crate ${file}: "${id}" is not inside the crate`);
    if (sha256(readInput(join(path, inside), 'file of the crate')) !== wanted)
      throw new UserError(`crate ${path}: ${id} has other contents than its description says`);
  }
  return files.length;
}
