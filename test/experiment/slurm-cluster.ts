// A Slurm of two nodes on this machine: munged, slurmctld and two slurmd with names of their own,
// on loopback, below one folder. Started and ended by their process ids.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { findProgram } from '../support/tools.ts';

const NODES = ['n1', 'n2'] as const;
const PORT = 17_000;
const DAEMONS = ['munged', 'slurmctld', 'slurmd', 'sbatch'];
const PATH = `${process.env['PATH']}:/usr/sbin:/sbin`;

/** Why there is no Slurm; installs Debian's packages where this process may. */
export function missingSlurm(): string | undefined {
  const has = (): boolean => {
    process.env['PATH'] = PATH;
    return DAEMONS.every(name => findProgram(name) !== undefined);
  };
  if (process.getuid?.() !== 0) return 'only root can start the daemons of Slurm';
  if (has()) return undefined;
  spawnSync('apt-get', ['install', '-y', '--no-install-recommends', 'slurm-wlm', 'munge'], {
    stdio: 'ignore',
  });
  return has() ? undefined : 'the packages slurm-wlm and munge cannot be installed';
}

const configOf = (dir: string, host: string): string => `ClusterName=kcovbox
SlurmctldHost=${host}(127.0.0.1)
SlurmctldPort=${PORT}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=${dir}/munge/socket
CredType=cred/munge
StateSaveLocation=${dir}/state
SlurmdSpoolDir=${dir}/spool/%n
SlurmctldPidFile=${dir}/slurmctld.pid
SlurmdPidFile=${dir}/slurmd.%n.pid
SlurmctldLogFile=${dir}/slurmctld.log
SlurmdLogFile=${dir}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SlurmdTimeout=10
KillWait=2
JobRequeue=1
SchedulerParameters=sched_interval=1,bf_interval=1
${NODES.map((name, i) => `NodeName=${name} NodeHostname=${host} NodeAddr=127.0.0.1 Port=${PORT + 1 + i} CPUs=1`).join('\n')}
PartitionName=all Nodes=${NODES.join(',')} Default=YES MaxTime=INFINITE State=UP
`;

export class SlurmCluster {
  readonly #dir: string;
  readonly #processes = new Map<string, ChildProcess>();
  readonly env: Readonly<Record<string, string>>;

  constructor(dir: string) {
    this.#dir = dir;
    this.env = { SLURM_CONF: join(dir, 'slurm.conf'), PATH };
    for (const name of ['munge', 'state', ...NODES.map(node => join('spool', node))])
      mkdirSync(join(dir, name), { recursive: true });
    chmodSync(join(dir, 'munge'), 0o700);
    writeFileSync(join(dir, 'munge', 'key'), randomBytes(1024), { mode: 0o400 });
    writeFileSync(join(dir, 'slurm.conf'), configOf(dir, hostname().split('.')[0]!));
  }

  #start(name: string, command: string, ...words: string[]): void {
    const child = spawn(command, words, {
      env: { ...process.env, ...this.env },
      stdio: 'ignore',
      detached: true,
    });
    this.#processes.set(name, child);
  }

  async start(): Promise<void> {
    const munge = (name: string): string => join(this.#dir, 'munge', name);
    const files = ['key', 'socket', 'pid', 'log', 'seed'].map(
      name =>
        `--${{ key: 'key-file', socket: 'socket', pid: 'pid-file', log: 'log-file', seed: 'seed-file' }[name]}=${munge(name)}`,
    );
    this.#start('munged', 'munged', '--foreground', '--force', ...files);
    await wait(1000);
    const config = this.env['SLURM_CONF']!;
    this.#start('slurmctld', 'slurmctld', '-D', '-f', config);
    await wait(2000);
    for (const node of NODES) this.#start(node, 'slurmd', '-D', '-N', node, '-f', config);
    for (let i = 0; i < 60 && this.run('sinfo', '-h', '-o', '%T').trim() !== 'idle'; i++) await wait(500);
    if (this.run('sinfo', '-h', '-o', '%T').trim() !== 'idle')
      throw new Error(
        `Slurm did not start: ${this.run('sinfo')}${readFileSync(join(this.#dir, 'slurmctld.log'), 'utf8').slice(-2000)}`,
      );
  }

  run(command: string, ...words: string[]): string {
    return spawnSync(command, words, { encoding: 'utf8', env: { ...process.env, ...this.env } }).stdout;
  }

  /** Kills what a node is: its daemon, the daemons of its job steps, and their processes. */
  killNode(node: (typeof NODES)[number]): number {
    const own = new Set([this.#processes.get(node)!.pid!]);
    for (const name of readdirSync('/proc').filter(entry => /^\d+$/.test(entry)))
      if (belongsTo(name, node, this.#dir)) own.add(Number(name));
    for (const pid of own) kill(pid);
    return own.size;
  }

  stop(): void {
    for (const node of NODES) this.killNode(node);
    for (const { pid } of this.#processes.values()) kill(pid!);
  }
}

export const wait = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms));

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {} // it has ended
}

/** A process of a job there, or one that has a file of the node's daemon open. */
function belongsTo(pid: string, node: string, dir: string): boolean {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
    const isOurs = environment.includes(`SLURM_CONF=${join(dir, 'slurm.conf')}`);
    if (isOurs && environment.includes(`SLURMD_NODENAME=${node}`)) return true;
    return readdirSync(`/proc/${pid}/fd`).some(fd => {
      const file = readlinkSync(`/proc/${pid}/fd/${fd}`);
      return file === join(dir, `slurmd.${node}.log`) || file.startsWith(join(dir, 'spool', node, '/'));
    });
  } catch {
    return false; // it has ended
  }
}
