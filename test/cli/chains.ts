// One program, many runs: on every version of Node.js, with every engine, again and again. Each
// must have the first one's chain of run hashes, console, coverage records and status.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { COMMAND, kcovbox } from '../support/command.ts';
import { nodeVersions } from '../support/nodes.ts';

const ENGINES = ['jit', 'interp', 'lockstep'] as const;

/** Sources of differences: the order of processes, time, sleep, noise, rounding, coverage. */
const SOURCE = `#include <fcntl.h>
#include <linux/kcov.h>
#include <math.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000L + t.tv_nsec;
}

int main(void) {
  int ends[2], c, bytes = 0;
  unsigned noise = 0;
  pipe(ends);
  for (int child = 0; child < 4; child++) {
    if (fork() > 0) continue;
    double x = child + 1;
    for (int n = 1; n < 60000; n++) {
      x = fma(x, 1.0000001, sin(n) / n);
      if (n % 10000 == 0) {
        char line[80];
        write(ends[1], line, snprintf(line, sizeof line, "%d %a %ld\\n", child, x, now()));
      }
    }
    usleep(1000 * child);
    _exit(0);
  }
  close(ends[1]);
  while (read(ends[0], &c, 1) == 1) putchar(c & 255);
  while (wait(NULL) > 0) ;
  getrandom(&noise, sizeof noise, 0);
  while (getchar() != EOF) bytes++;
  int fd = open("/sys/kernel/debug/kcov", O_RDWR);
  ioctl(fd, KCOV_INIT_TRACE, 4096);
  unsigned long *area = mmap(NULL, 32768, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ioctl(fd, KCOV_ENABLE, KCOV_TRACE_CMP);
  area[0] = 0;
  close(open("/tmp/x", O_CREAT | O_RDWR, 0600));
  printf("%u %d %lu\\n", noise, bytes, area[0]);
  return 3;
}
`;

/** Zones and languages of the host, which are nobody's business. */
const PLACES = [
  { TZ: 'UTC', LANG: 'C' },
  { TZ: 'Asia/Kathmandu', LANG: 'de_DE.UTF-8' },
  { TZ: 'America/Adak', LANG: 'tr_TR.UTF-8' },
];

interface Ran {
  readonly status: number | null;
  readonly stderr: string;
  readonly outcome: unknown;
}

function run(node: string, engine: string, harts: number, dir: string, turn: number): Ran {
  const program = join(dir, 'chains');
  const machine = ['--smp', `${harts}`, '--seed', '7', '-m', '32M', '--dialect', 'linux'];
  const schedule = harts > 1 ? ['--sched-seed', '5'] : [];
  const args = ['run', ...machine, ...schedule, '--engine', engine, '--result', '-', program];
  const env = { ...process.env, ...PLACES[turn % PLACES.length] };
  const { status, stdout, stderr } = spawnSync(node, [COMMAND, ...args], {
    cwd: dir,
    encoding: 'utf8',
    input: 'x'.repeat(70_000),
    timeout: 600_000,
    env,
  });
  return { status, stderr, outcome: status === 3 ? JSON.parse(stdout).outcome : stdout };
}

/**
 * Runs the program `runs` times in each cell of versions, engines and 1 and 4 harts. Returns the
 * number of links of the two chains. Errors: the first run that differs, with both outcomes.
 */
export function searchChains(dir: string, runs: number): number[] {
  writeFileSync(join(dir, 'chains.c'), SOURCE);
  const built = kcovbox(['build', '--dialect', 'linux', '-o', join(dir, 'chains'), join(dir, 'chains.c')], {
    cwd: dir,
  });
  if (built.status !== 0) throw new Error(built.stderr);
  // A build says so on standard error.
  kcovbox(['build', 'kernel', '--dialect', 'linux'], { cwd: dir });
  return [1, 4].map(harts => {
    let first: string | undefined;
    let links = 0;
    for (let turn = 0; turn < runs; turn++)
      for (const [nth, { major, path }] of nodeVersions().entries())
        for (const engine of ENGINES) {
          // Lockstep takes six times as long as another engine.
          if (engine === 'lockstep' && (nth > 0 || harts === 1) && runs === 1) continue;
          const ran = run(path, engine, harts, dir, turn);
          const text = JSON.stringify(ran);
          first ??= text;
          if (ran.status !== 3 || text !== first)
            throw new Error(
              `run ${turn}, ${harts} harts, ${engine}, Node.js ${major}: ${text}, not ${first}`,
            );
          links = (ran.outcome as { runHash: { links: string[] } }).runHash.links.length;
        }
    return links;
  });
}
