// The command as a user starts it: bin/kcovbox.cjs in a process of its own.
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const COMMAND = join(ROOT, 'bin', 'kcovbox.cjs');
const LINES = join(ROOT, 'test', 'support', 'lines-main.cjs');

export interface Ran {
  /** null: it did not end within the time limit. */
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunIn {
  readonly cwd: string;
  readonly input?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
  readonly timeout?: number;
}

/** Where long work is: how many of these lines there are depends on the speed of the machine. */
const PROGRESS = /^kcovbox: \d+ (?:executions, \d+\/s, |of \d+ (?:submissions|trials)(?! are)).*\n/gm;

export const withoutProgress = (stderr: string): string => stderr.replace(PROGRESS, '');

/** Runs `kcovbox ARGS`; standard input is empty unless given. Lines of progress are left out. */
export function kcovbox(args: readonly string[], options: RunIn): Ran {
  const { status, stdout, stderr } = spawnSync(process.execPath, [COMMAND, ...args], {
    encoding: 'utf8',
    cwd: options.cwd,
    input: options.input ?? '',
    env: { ...process.env, ...options.env },
    timeout: options.timeout ?? 120_000,
    maxBuffer: 1 << 28,
  });
  return { status, stdout, stderr: withoutProgress(stderr) };
}

/** The end of a command line of `kcovboxLines`, and the names in its folder afterwards. */
export interface RanLine extends Ran {
  readonly files: readonly string[];
}

/**
 * Runs command lines as `kcovbox` does, but in one process, because starting one for each takes 40
 * times as long as a wrong line itself. A line that ends the process has it for itself. `timeout`
 * is for all of them.
 */
export function kcovboxLines(
  lines: readonly (readonly string[])[],
  { cwd, timeout = 120_000 }: { cwd: string; timeout?: number },
): RanLine[] {
  kcovbox(['--version'], { cwd }); // builds the bundle where it is stale
  const ran: RanLine[] = [];
  while (ran.length < lines.length) {
    const { output, stderr } = spawnSync(process.execPath, [LINES], {
      encoding: 'utf8',
      cwd,
      input: JSON.stringify(lines.slice(ran.length)),
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
      timeout,
      maxBuffer: 1 << 28,
    });
    const some = JSON.parse(output[3] || '[]') as RanLine[];
    if (some.length === 0) throw new Error(`kcovbox ${lines[ran.length]!.join(' ')}: no answer; ${stderr}`);
    ran.push(...some.map(one => ({ ...one, stderr: withoutProgress(one.stderr) })));
  }
  return ran;
}

/** A shell line in which `kcovbox` is the command. */
export function shell(line: string, options: RunIn): Ran {
  const command = line.replaceAll('kcovbox ', `"${process.execPath}" "${COMMAND}" `);
  const { status, stdout, stderr } = spawnSync('bash', ['-c', command], {
    encoding: 'utf8',
    cwd: options.cwd,
    input: options.input ?? '',
    env: { ...process.env, ...options.env },
    timeout: options.timeout ?? 120_000,
  });
  return { status, stdout, stderr };
}

/**
 * True for what a failure should print: one line that begins with the command's name, and no
 * control characters.
 */
export const isOneLine = (stderr: string): boolean => /^kcovbox: \P{Cc}+\n$/u.test(stderr);
