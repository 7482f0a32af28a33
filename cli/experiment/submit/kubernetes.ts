// `kcovbox experiment submit kubernetes`: the shards as an Indexed Job, whose pods share a volume.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, join, posix } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { stringify } from 'yaml';
import { visible } from '../../../emulator/base/words.ts';
import { packageRoot, tell } from '../../../toolchain/index.ts';
import { UserError } from '../../io/fail.ts';
import { writeFile, writeTo } from '../../io/output.ts';
import { pathWord } from '../../io/shell-word.ts';
import {
  addCommon,
  dryRunOption,
  engineFolder,
  limitOption,
  prepareSubmission,
  printLines,
  requireEngine,
  type Submission,
  type SubmitOptions,
  shellLine,
  tasksOption,
} from './tasks.ts';

interface KubernetesOptions extends SubmitOptions {
  claim: string;
  image: string;
  kcovbox?: string;
  mount: string;
  folder?: string;
  namespace?: string;
}

/** Kubernetes takes so many tasks of a job, and so many pods at a time. */
const COMPLETIONS_MAX = 100_000;
const RETRIES = 2;
/** A pod's host name is that of the job, a dash and the number of the task: at most 63 letters. */
const NAME_MAX = 40;
const HASH_DIGITS = 8;
/** A worker needs so much beside the memory of its machine. */
const OWN_MIB = 512;
const MIB = 2 ** 20;

const LABEL = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
const SUBDOMAIN = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

const parseName =
  (pattern: RegExp) =>
  (text: string): string => {
    if (!pattern.test(text))
      throw new InvalidArgumentError('expected a name of Kubernetes: lower-case letters, digits, dashes');
    return text;
  };

/** Errors: commander's. A mount path may have no colon. */
function parseMount(text: string): string {
  if (!posix.isAbsolute(text) || text.includes(':') || posix.normalize(text) === '/')
    throw new InvalidArgumentError('expected an absolute path other than /, without a colon');
  return posix.normalize(text);
}

/** In the volume, wherever that is mounted. */
function parseFolder(text: string): string {
  const path = posix.normalize(text);
  if (posix.isAbsolute(path) || /^\.\.?(?:\/|$)/.test(path))
    throw new InvalidArgumentError('expected a path within the volume');
  return path;
}

function parseImage(text: string): string {
  if (!/^\S+$/.test(text)) throw new InvalidArgumentError('expected the name of an image');
  return text;
}

function parseWords(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('expected a command');
  return text;
}

/** Names the plan and the number of tasks, because the tasks of a job cannot be changed. */
const jobName = ({ folder, tasks }: Submission): string => {
  const words = `${folder.plan.name}`.replace(/[^a-z0-9]+/g, '-').slice(0, NAME_MAX);
  return `${words}-${folder.hash.slice(0, HASH_DIGITS)}-${tasks}`.replace(/-+/g, '-');
};

function defaultCommand(): string {
  const text = readFileSync(join(packageRoot(), 'package.json'), 'utf8');
  return `npx --yes kcovbox@${(JSON.parse(text) as { version: string }).version}`;
}

/** Kubernetes takes $(NAME) in a word of the command for a variable, and $$ for one $. */
const literal = (word: string): string => word.replaceAll('$', '$$$$');

/** The Job as an object of the API batch/v1. */
export function kubernetesJob(submission: Submission, options: KubernetesOptions): object {
  const { folder, tasks } = submission;
  const { claim, image, mount, namespace, limit = COMPLETIONS_MAX } = options;
  const path = posix.join(mount, options.folder ?? basename(submission.path));
  const words = (options.kcovbox ?? defaultCommand()).split(/\s+/).filter(Boolean);
  const memory = Math.max(...folder.plan.variants.map(({ run }) => run.machine.memory)) / MIB;
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: jobName(submission), ...(namespace !== undefined && { namespace }) },
    spec: {
      completionMode: 'Indexed',
      completions: tasks,
      parallelism: Math.min(limit, tasks),
      backoffLimitPerIndex: RETRIES,
      podFailurePolicy: {
        rules: [
          // A node that goes away is no failure of the shard.
          { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
          // Status 1: a trial has two different results. Another attempt would not help.
          { action: 'FailIndex', onExitCodes: { containerName: 'shard', operator: 'In', values: [1] } },
        ],
      },
      template: {
        spec: {
          restartPolicy: 'Never',
          containers: [
            {
              name: 'shard',
              image,
              command: [...words, 'experiment', 'shard', path, '--of', String(tasks)].map(literal),
              resources: { requests: { cpu: '1', memory: `${memory + OWN_MIB}Mi` } },
              volumeMounts: [{ name: 'experiments', mountPath: mount }],
            },
          ],
          volumes: [{ name: 'experiments', persistentVolumeClaim: { claimName: claim } }],
        },
      },
    },
  };
}

/** YAML 1.1 as kubectl reads it, where a bare `on` or `1:30` is not a text. */
const yaml = (job: object): string =>
  '# An Indexed Job, for Kubernetes 1.29 or newer. A pod finds its number in JOB_COMPLETION_INDEX.\n' +
  stringify(job, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false });

/** kubectl takes the value of -f for a row of CSV. */
const csvWord = (word: string): string => (/[",\n]/.test(word) ? `"${word.replaceAll('"', '""')}"` : word);

function apply(words: readonly string[], name: string): void {
  const { status, stdout, stderr, error } = spawnSync('kubectl', words, { encoding: 'utf8' });
  if (error) throw new UserError(`cannot start kubectl: ${error.message}`);
  if (status !== 0) throw new UserError(`kubectl: ${stderr.trim().split('\n')[0] || `status ${status}`}`);
  if (/ unchanged$/m.test(stdout))
    throw new UserError(
      `job ${name} is there already; kubectl delete job ${name} removes it, then submit again`,
    );
}

async function submitKubernetes(experiment: string, options: KubernetesOptions): Promise<void> {
  requireEngine('kubectl', options.dryRun);
  const submission = await prepareSubmission(experiment, options);
  if (!submission) return;
  const { folder, tasks } = submission;
  if (tasks > COMPLETIONS_MAX)
    throw new UserError(`--tasks ${tasks}: a job of Kubernetes has at most ${COMPLETIONS_MAX}`);
  const file = join(engineFolder(submission, 'kubernetes'), 'job.yaml');
  writeFile(file, yaml(kubernetesJob(submission, options)));
  const name = jobName(submission);
  const words = ['apply', '-f', csvWord(file)];
  if (options.dryRun) printLines(shellLine('kubectl', ...words));
  else {
    apply(words, name);
    writeTo('-', `job ${name} of ${tasks} tasks, described in ${visible(file)}\n`);
  }
  tell(
    `kcovbox: when the job is complete, kcovbox experiment resume ${pathWord(folder.path)} runs what is missing, and report writes the report\n`,
  );
}

export function addKubernetes(command: Command): void {
  addCommon(command, ', on the volume that the claim names')
    .description('an Indexed Job for the trials')
    .addOption(tasksOption('tasks of the job'))
    .addOption(limitOption('pods that run at the same time (default: all tasks)'))
    .addOption(
      new Option('--claim <name>', 'the PersistentVolumeClaim with the folder; all pods write to it')
        .argParser(parseName(SUBDOMAIN))
        .makeOptionMandatory(),
    )
    .addOption(
      new Option('--mount <path>', 'where pods have the volume')
        .argParser(parseMount)
        .default('/experiments'),
    )
    .addOption(
      new Option('--folder <path>', 'the folder in the volume (default: its name here)').argParser(
        parseFolder,
      ),
    )
    .addOption(
      new Option('--image <image>', 'image of the container').argParser(parseImage).default('node:22'),
    )
    .addOption(
      new Option(
        '--kcovbox <words>',
        'the command in the image (default: npx, with the version of this one)',
      ).argParser(parseWords),
    )
    .addOption(
      new Option('--namespace <name>', 'namespace of the job (default: that of the context)').argParser(
        parseName(LABEL),
      ),
    )
    .addOption(dryRunOption())
    .addHelpText(
      'after',
      `\nA task is one shard. One that is killed or fails is tried ${RETRIES + 1} times; a node that goes away does not count.\n` +
        'FOLDER/kubernetes/job.yaml is the job.\n' +
        'Examples:\n  kcovbox experiment submit kubernetes --claim experiments --dry-run lost.experiment\n' +
        '  kcovbox experiment submit kubernetes --claim experiments --tasks 100 --limit 20 lost.experiment',
    )
    .action(async (path: string, options: KubernetesOptions) => submitKubernetes(path, options));
}
