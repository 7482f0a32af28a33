// `kcovbox bench --cold`: what a person waits for a small program, from the shell's fork to the exit status, Node's start included; beside
// QEMU with the same kernel, program and RAM. Alternated; everything is built and cached before.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot, which } from '../toolchain/index.ts';
import { UserError } from './fail.ts';
import { prepareGuest } from './guest.ts';

const PROGRAM = join('examples', 'hello.c');
const QEMU = 'qemu-system-riscv64';

export interface Sample {
  readonly wall: number;
  /** Of the process and all it waited for; NaN without a bash to ask. */
  readonly cpu: number;
}

const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

/** Times one command. `TIMEFORMAT` is bash's; its clock has milliseconds. */
export function time(command: readonly string[]): Sample {
  const line = `TIMEFORMAT='%R %U %S'; time ${command.map(quote).join(' ')} </dev/null >/dev/null 2>&1`;
  const { stderr, status, error } = spawnSync('bash', ['-c', line], { encoding: 'utf8' });
  if (error) throw new UserError(`bench --cold needs bash: ${error.message}`);
  if (status !== 0) throw new UserError(`${command[0]} ended with status ${status}`);
  const [wall = Number.NaN, user = 0, system = 0] = stderr.trim().split(' ').map(Number);
  return { wall, cpu: user + system };
}

export const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1]!;

/** The table as text. */
export async function benchCold(rounds: number): Promise<string> {
  if (!which(QEMU)) throw new UserError(`${QEMU} is not installed; kcovbox doctor says what to type`);
  const program = join(packageRoot(), PROGRAM);
  const guest = await prepareGuest(program, [], { dialect: 'openbsd', kcov: 'off' });
  const dir = mkdtempSync(join(tmpdir(), 'kcovbox-cold-'));
  try {
    const initrd = join(dir, 'initrd');
    writeFileSync(initrd, guest.initrd);
    const qemu = `${QEMU} -M virt -m 256M -nographic -no-reboot -kernel ${guest.kernelPath} -initrd ${initrd} -append`;
    const command = [process.execPath, join(packageRoot(), 'bin', 'kcovbox.cjs'), 'run', program];
    const runs = [
      { name: 'kcovbox run', command, samples: [] as Sample[] },
      { name: 'qemu', command: [...qemu.split(' '), guest.append], samples: [] as Sample[] },
      { name: 'node -e 0', command: [process.execPath, '-e', '0'], samples: [] as Sample[] },
    ];
    for (const { command: once } of runs) time(once);
    for (let round = 0; round < rounds; round++) for (const run of runs) run.samples.push(time(run.command));
    const rows = runs.map(({ name, samples }) => {
      const column = (pick: (s: Sample) => number): string =>
        `${median(samples.map(pick)).toFixed(3)} (${Math.min(...samples.map(pick)).toFixed(3)})`.padStart(16);
      return `${name.padEnd(12)}${column(s => s.wall)}${column(s => s.cpu)}`;
    });
    const [ours, theirs] = runs.map(run => median(run.samples.map(s => s.wall)));
    const title = `${''.padEnd(12)}${'wall s (least)'.padStart(16)}${'CPU s (least)'.padStart(16)}`;
    return `${title}\n${rows.join('\n')}\n${(ours! / theirs!).toFixed(2)} times QEMU's wall time, medians of ${rounds}`;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
