// `kcovbox experiment submit ENGINE --dry-run`: the files of each engine, for a folder whose name
// has what shells, YAML, Python and GNU parallel take for their own; and lines that are refused.
// (submit.slow.test.ts runs the engines.)
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { planHash, trialId } from '../../experiment/plan.ts';
import { COMMAND, isOneLine, kcovboxLines, type RanLine } from '../support/command.ts';
import { findProgram, missing } from '../support/tools.ts';
import { samplePlan } from './sample.ts';

const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'kcovbox-submit-')));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const HOSTILE = `a b,%a'"{.}{= die =}$(HOME)$$: #{x}\\n é😀`;
const TRIALS = 3;
const plan = samplePlan({ trials: TRIALS });

function folder(name: string): string {
  mkdirSync(join(cwd, name), { recursive: true });
  writeFileSync(join(cwd, name, 'plan.json'), JSON.stringify(plan));
  return name;
}

const GOOD = {
  slurm: ['slurm', '--tasks', '3', HOSTILE],
  parallel: ['parallel', '--tasks', '3', '--limit', '2', '--option=--sshlogin=n1,n2', HOSTILE],
  snakemake: ['snakemake', '--tasks', '3', '--limit', '2', '--option=--profile=a b', HOSTILE],
  kubernetes: ['kubernetes', '--claim', 'claim', '--tasks', '3', '--limit', '2', HOSTILE],
  words: [
    ...[
      'kubernetes',
      '--claim',
      'on',
      '--tasks',
      '1',
      '--image',
      '1:30',
      '--kcovbox',
      'no  ~',
      '--mount',
      '/y',
    ],
    ...['--folder', 'off/0x1f', '--namespace', 'null', 'words'],
  ],
} as const;

const claimed = ['kubernetes', '--dry-run', '--claim', 'c'];
const BAD: readonly (readonly [words: readonly string[], message: RegExp])[] = [
  [['kubernetes', '--dry-run', 'open'], /option '--claim <name>' not specified/],
  [
    ['kubernetes', '--dry-run', '--claim', 'No_Name', 'open'],
    /--claim <name>.*expected a name of Kubernetes/,
  ],
  [[...claimed, '--mount', 'here', 'open'], /--mount <path>.*expected an absolute path/],
  [[...claimed, '--mount', '/a:b', 'open'], /--mount <path>.*without a colon/],
  [[...claimed, '--folder', '../x', 'open'], /--folder <path>.*expected a path within the volume/],
  [[...claimed, '--image', ' ', 'open'], /--image <image>.*expected the name of an image/],
  [[...claimed, '--kcovbox', '', 'open'], /--kcovbox/],
  [[...claimed, '--namespace', 'a.b', 'open'], /--namespace <name>.*expected a name of Kubernetes/],
  [[...claimed, '--tasks', '7', 'open'], /--tasks 7: there are 6 trials, and a task has at least one/],
  [['parallel', '--dry-run', '--tasks', '0', 'open'], /--tasks <n>.*expected a positive whole number/],
  [['parallel', '--dry-run', '--limit', 'x', 'open'], /--limit <n>.*expected a positive whole number/],
  [['parallel', '--dry-run', 'two\nlines'], /takes a line for each task, and the path has a line break/],
  [['snakemake', '--dry-run', 'nothing'], /experiment nothing: no such file/],
  [['snakemake', '--dry-run', 'none'], /none is not the folder of an experiment.*experiment plan makes one/],
  [['snakemake', '--dry-run', 'empty'], /plan empty\/plan\.json: .*trials/],
  [['snakemake', '--dry-run', 'blocked'], /cannot write .*blocked\/snakemake/],
  [['parallel', '--dry-run', 'blocked'], /cannot write .*blocked\/parallel/],
  [['redis', 'open'], /option '--url <url>' not specified/],
  [['redis', '--url', 'http://localhost', 'open'], /--url <url>.*expected redis:/],
  [['redis', '--url', 'redis://:%zz@localhost', 'open'], /--url <url>.*expected redis:/],
  [['redis', '--url', 'redis://localhost/x', 'open'], /--url <url>.*expected redis:/],
  [['redis', '--url', 'redis://127.0.0.1:1', 'open'], /redis 127\.0\.0\.1:1: connect ECONNREFUSED/],
  [['pbs', 'open'], /unknown command 'pbs'/],
];

/** Of an experiment whose trials are all finished. */
const FINISHED: readonly (readonly string[])[] = [
  ['submit', 'parallel', '--dry-run', 'full'],
  ['submit', 'snakemake', '--dry-run', 'full'],
  ['submit', 'slurm', '--dry-run', 'full'],
  ['submit', 'kubernetes', '--dry-run', '--claim', 'c', 'full'],
  ['shard', '--of', '1', '--index', '0', 'full'],
];

const ran = new Map<string, RanLine>();
const ended: RanLine[] = [];
beforeAll(() => {
  for (const name of [HOSTILE, 'words', 'open', 'full', 'blocked', 'two\nlines']) folder(name);
  for (const name of ['none', 'empty']) mkdirSync(join(cwd, name));
  writeFileSync(join(cwd, 'empty', 'plan.json'), JSON.stringify({ ...plan, trials: [] }));
  for (const name of ['parallel', 'snakemake']) writeFileSync(join(cwd, 'blocked', name), '');
  for (const trial of plan.trials) {
    mkdirSync(join(cwd, 'full', 'trials', trialId(trial)), { recursive: true });
    writeFileSync(join(cwd, 'full', 'trials', trialId(trial), 'trial.json'), '');
  }
  const good = Object.values(GOOD).map(([engine, ...words]) => [engine, '--dry-run', ...words]);
  const submitted = [...good, ...BAD.map(([words]) => words)].map(words => ['submit', ...words]);
  const lines = [...submitted, ...FINISHED].map(words => ['experiment', ...words]);
  const all = kcovboxLines(lines, { cwd });
  for (const name of Object.keys(GOOD)) ran.set(name, all.shift()!);
  ended.push(...all);
});

test.each(BAD.map(([words, message], i) => [words, message, i] as const))(
  '%j is refused in one line',
  (_, message, i) => {
    expect(ended[i]).toMatchObject({ status: 125, stdout: '' });
    expect(ended[i]!.stderr.trimEnd()).toMatch(message);
    expect(ended[i]!.stderr).toSatisfy(isOneLine);
  },
);

test.each(FINISHED.map((words, i) => [words, i] as const))('%j: nothing is left to do', (words, i) => {
  const { status, stdout, stderr } = ended[BAD.length + i]!;
  expect(stderr).toMatch(
    words[0] === 'shard'
      ? /^kcovbox: nothing is left to do: all trials of the shard are finished\n$/
      : /^kcovbox: nothing is left to do: all 6 trials are finished; kcovbox experiment report full\n$/,
  );
  expect([status, stdout === '']).toEqual([0, words[0] !== 'shard']);
});

/** The words that a POSIX shell finds in a line. */
function wordsOf(line: string): string[] {
  const { stdout } = spawnSync('sh', ['-c', `printf '%s\\0' ${line}`], { encoding: 'utf8' });
  return stdout.split('\0').slice(0, -1);
}
const printed = (name: keyof typeof GOOD): string[] => {
  expect(ran.get(name)).toMatchObject({ status: 0 });
  return ran.get(name)!.stdout.trimEnd().split('\n');
};
const read = (...names: string[]): string => readFileSync(join(cwd, HOSTILE, ...names), 'utf8');
const path = join(cwd, HOSTILE);
const shard = [process.execPath, COMMAND, 'experiment', 'shard', path, '--of', '3'];
const collect = [process.execPath, COMMAND, 'experiment', 'resume', '-j', '1', path];

test('slurm', () => {
  const [array, collector] = printed('slurm').map(wordsOf);
  expect(array!.at(-1)).toBe(join(path, 'slurm', 'array.sh'));
  expect(array).toContain(`--output=${join(path.replaceAll('%', '%%'), 'slurm', 'task-%a.log')}`);
  expect(collector).toContain('--dependency=afterany:ARRAY');
  expect(wordsOf(read('slurm', 'array.sh').split('\n')[1]!)).toEqual(['exec', ...shard]);
});

test('GNU parallel: a line for each shard, then the collector', () => {
  const [words, collector] = printed('parallel');
  const { parallel, '--arg-file': file, ...options } = optionsOf(wordsOf(words!));
  expect([parallel, file]).toEqual([undefined, join(path, 'parallel', 'shards')]);
  expect(options).toMatchObject({ '--retries': '3', '--jobs': '2', '--sshlogin=n1,n2': undefined });
  expect(wordsOf(collector!.split(' && ')[0]!)).toEqual(collect);
  const lines = read('parallel', 'shards').trimEnd().split('\n');
  expect(lines.map(wordsOf)).toEqual(['0', '1', '2'].map(index => [...shard, '--index', index]));
});

const optionsOf = (words: readonly string[]): Record<string, string | undefined> =>
  Object.fromEntries(
    words
      .map((word, i): [string, string | undefined] => [word, words[i + 1]])
      .filter(([word]) => word.startsWith('--'))
      .map(([word, next]) => [word, next?.startsWith('--') ? undefined : next]),
  );

test('Snakemake', () => {
  const [words, ...rest] = printed('snakemake');
  expect(rest).toEqual([]);
  expect(optionsOf(wordsOf(words!))).toMatchObject({
    '--cores': '2',
    '--profile=a b': undefined,
    '--directory': join(path, 'snakemake'),
    '--snakefile': join(path, 'snakemake', 'Snakefile'),
  });
  // A string of JSON is one of Python where it has no escape of half a pair.
  const strings = [...read('snakemake', 'Snakefile').matchAll(/^ {8}(".*")$/gm)].map(([, text]) =>
    text!
      .split('" "')
      .map((part, i, all) => JSON.parse(`${i ? '"' : ''}${part}${i < all.length - 1 ? '"' : ''}`)),
  );
  const [, line] = strings.map(parts => (parts as string[]).join(''));
  expect(
    wordsOf(line!.replace('{wildcards.index}', '7').replaceAll('{{', '{').replaceAll('}}', '}')),
  ).toEqual([...shard, '--index', '7']);
});

/**
 * The fields of a Job that the shards need, with the types of the API batch/v1. A field that is not
 * in this list is not in the API, or has to be looked up there and added.
 */
const text = z.string().min(1);
const job = z.strictObject({
  apiVersion: z.literal('batch/v1'),
  kind: z.literal('Job'),
  metadata: z.strictObject({
    name: z.string().regex(/^[a-z0-9][-a-z0-9]{0,55}$/),
    namespace: text.optional(),
  }),
  spec: z.strictObject({
    completionMode: z.literal('Indexed'),
    completions: z.int().min(1).max(100_000),
    parallelism: z.int().min(1).max(100_000),
    backoffLimitPerIndex: z.int().min(0),
    podFailurePolicy: z.strictObject({
      rules: z
        .array(
          z.strictObject({
            action: z.enum(['Ignore', 'FailIndex', 'FailJob', 'Count']),
            onPodConditions: z
              .array(z.strictObject({ type: text, status: z.enum(['True', 'False']) }))
              .optional(),
            onExitCodes: z
              .strictObject({
                containerName: text,
                operator: z.enum(['In', 'NotIn']),
                values: z.array(z.int().min(1)).min(1),
              })
              .optional(),
          }),
        )
        .max(20),
    }),
    template: z.strictObject({
      spec: z.strictObject({
        // backoffLimitPerIndex and podFailurePolicy require it.
        restartPolicy: z.literal('Never'),
        containers: z.tuple([
          z.strictObject({
            name: text,
            image: text,
            command: z.array(z.string()),
            resources: z.strictObject({ requests: z.record(z.enum(['cpu', 'memory']), z.string()) }),
            volumeMounts: z.tuple([z.strictObject({ name: text, mountPath: text })]),
          }),
        ]),
        volumes: z.tuple([
          z.strictObject({ name: text, persistentVolumeClaim: z.strictObject({ claimName: text }) }),
        ]),
      }),
    }),
  }),
});

describe('Kubernetes', () => {
  const jobOf = (name: string): z.infer<typeof job> =>
    job.parse(parse(readFileSync(join(cwd, name, 'kubernetes', 'job.yaml'), 'utf8'), { version: '1.1' }));

  test('a Job starts the shards that it counts', () => {
    const file = join(path, 'kubernetes', 'job.yaml');
    const row = `"${file.replaceAll('"', '""')}"`; // kubectl takes the value for CSV
    expect(printed('kubernetes').map(wordsOf)).toEqual([['kubectl', 'apply', '-f', row]]);
    const { stderr } = ran.get('kubernetes')!;
    expect(stderr).toMatch(/^kcovbox: when the job is complete, kcovbox experiment resume .*\n$/);
    const { spec, metadata } = jobOf(HOSTILE);
    expect([spec.completions, spec.parallelism]).toEqual([3, 2]);
    expect(metadata.name).toBe(`sample-${planHash(plan).slice(0, 8)}-3`);
    const [container] = spec.template.spec.containers;
    expect(container.command.slice(0, 2)).toEqual(['npx', '--yes']);
    expect(container.command.slice(3, 5)).toEqual(['experiment', 'shard']);
    // In the words of a command Kubernetes takes $$ for $, and $(NAME) for a variable.
    expect(container.command[5]!.replaceAll('$$', '$')).toBe(`/experiments/${HOSTILE}`);
    expect(container.command.slice(6)).toEqual(['--of', String(spec.completions)]);
    expect(container.volumeMounts[0].name).toBe(spec.template.spec.volumes[0].name);
    expect(spec.podFailurePolicy.rules[1]!.onExitCodes!.containerName).toBe(container.name);
  });

  test('texts stay texts in YAML 1.1', () => {
    const { spec, metadata } = jobOf('words');
    const [container] = spec.template.spec.containers;
    expect([container.image, metadata.namespace]).toEqual(['1:30', 'null']);
    expect(spec.template.spec.volumes[0].persistentVolumeClaim.claimName).toBe('on');
    const words = ['no', '~', 'experiment', 'shard', '/y/off/0x1f', '--of', '1'];
    expect(container.command).toEqual(words);
  });

  const kubectl = findProgram('kubectl');
  const why = 'kubectl, whose decoder drops fields that a Job does not have,';
  test.skipIf(missing(why, kubectl)).each([HOSTILE, 'words'])('kubectl knows all fields of %s', name => {
    const file = join(cwd, name, 'kubernetes', 'job.yaml');
    const row = `"${file.replaceAll('"', '""')}"`; // of CSV
    const words = ['set', 'image', '--local', '-f', row, 'shard=other', '-o', 'json'];
    const { stdout, stderr } = spawnSync(kubectl!, words, { encoding: 'utf8' });
    expect(stderr).toBe('');
    const expected = jobOf(name);
    expected.spec.template.spec.containers[0].image = 'other';
    expect(JSON.parse(stdout)).toMatchObject(expected);
  });
});
