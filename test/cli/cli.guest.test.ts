// The command as a user types it: statuses, one-line errors, and that a run is the same run every
// time.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunResult, runResult } from '../../run/schema.ts';
import { sha256 } from '../../toolchain/index.ts';

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const COMMAND = join(ROOT, 'bin', 'kcovbox.cjs');
const EXAMPLE = join(ROOT, 'guest-programs', 'openbsd-kcov.c');
const dir = mkdtempSync(join(tmpdir(), 'kcovbox-cli-'));

interface Ran {
  status: number | null;
  stdout: string;
  stderr: string;
}

function kcovbox(args: readonly string[], options: { cwd?: string; input?: string } = {}): Ran {
  const { status, stdout, stderr } = spawnSync(process.execPath, [COMMAND, ...args], {
    encoding: 'utf8',
    cwd: options.cwd ?? dir,
    input: options.input ?? '',
    timeout: 120_000,
  });
  return { status, stdout, stderr };
}

const file = (name: string, contents: string | Uint8Array): string => {
  const path = join(dir, name);
  writeFileSync(path, contents);
  return path;
};

/** An ELF header for another machine, or cut short. */
function elfHeader(machine: number, bytes: number): Uint8Array {
  const header = new Uint8Array(bytes);
  header.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1].slice(0, bytes));
  if (bytes > 20) header.set([2, 0, machine & 255, machine >> 8], 16);
  return header;
}

beforeAll(() => {
  file('exit7.c', 'int main(void) { return 7; }\n');
  file('killed.c', '#include <signal.h>\nint main(void) { raise(SIGKILL); return 0; }\n');
  file('forever.c', 'int main(void) { for (;;); }\n');
  file(
    'args.c',
    '#include <stdio.h>\nint main(int c, char **v) { for (int i = 0; i < c; i++) printf("[%s]\\n", v[i]); }\n',
  );
  file('cat.c', '#include <stdio.h>\nint main(void) { int c; while ((c = getchar()) != EOF) putchar(c); }\n');
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

describe('statuses', () => {
  test("the exit status is the program's own", () => expect(kcovbox(['run', 'exit7.c']).status).toBe(7));
  test('a signal gives 128 + its number', () => expect(kcovbox(['run', 'killed.c']).status).toBe(137));
  test('a spent budget gives 124 and says so', () => {
    const { status, stderr } = kcovbox(['run', '--max-insns', '5000000', 'forever.c']);
    expect(status).toBe(124);
    expect(stderr).toMatch(/^kcovbox: the instruction budget is spent .*--max-insns\n$/);
  });
  test('argv arrives as given: base name first, blanks, quotes and empty words kept', () => {
    const { stdout } = kcovbox(['run', 'args.c', '--', 'a b', '"q"', '', '-x', 'back\\slash']);
    expect(stdout).toBe('[args]\n[a b]\n["q"]\n[]\n[-x]\n[back\\slash]\n');
  });
  test('standard input reaches the program, and its end too', () => {
    expect(kcovbox(['run', 'cat.c'], { input: 'one\ntwo\n' }).stdout).toContain('two\n');
  });
});

test.each(['-c', '-E', '-S', '-M', '-fsyntax-only', '-###', '--version'])(
  'with --cflags %s there is no program to run',
  flag => {
    const { status, stdout, stderr } = kcovbox(['run', '--cflags', flag, 'exit7.c']);
    expect({ status, stdout }).toEqual({ status: 123, stdout: '' });
    expect(stderr.split('\n').at(-2)).toBe(`kcovbox: exit7.c was not linked to a program: omit ${flag}`);
    expect(kcovbox(['run', 'exit7.c']).status).toBe(7);
  },
);

describe('streams', () => {
  const count = `#include <stdio.h>
#include <unistd.h>
int main(void) {
    unsigned char b[1000];
    unsigned long n, total = 0, sum = 0;
    while ((long)(n = read(0, b, sizeof b)) > 0) {
        for (unsigned long i = 0; i < n; i++) sum = sum * 31 + b[i];
        total += n;
    }
    printf("%lu %lx %ld\\n", total, sum, (long)n);
    return 5;
}
`;
  /** Through a shell, for the ways of giving a command its streams. */
  const sh = (line: string): Ran => {
    const command = line.replaceAll('kcovbox', `"${process.execPath}" "${COMMAND}"`);
    const { status, stdout, stderr } = spawnSync('sh', ['-c', command], {
      cwd: dir,
      encoding: 'utf8',
      timeout: 120_000,
    });
    return { status, stdout, stderr };
  };
  const sumOf = (bytes: Uint8Array): string =>
    bytes.reduce((sum, byte) => BigInt.asUintN(64, sum * 31n + BigInt(byte)), 0n).toString(16);

  test('every byte of a file or a pipe arrives, and the end after them', () => {
    file('count.c', count);
    const bytes = Uint8Array.from({ length: 70_000 }, (_, i) => (i * 2654435761) >>> 13);
    file('bytes', bytes);
    const wanted = `70000 ${sumOf(bytes)} 0\n`;
    expect(sh('kcovbox run count.c < bytes')).toEqual({ status: 5, stdout: wanted, stderr: '' });
    expect(sh('cat bytes | kcovbox run count.c')).toEqual({ status: 5, stdout: wanted, stderr: '' });
    expect(sh('kcovbox run count.c < /dev/null').stdout).toBe('0 0 0\n');
    expect(sh('kcovbox run count.c <&-').stdout).toBe('0 0 0\n');
    expect(sh('printf abc | kcovbox run count.c').stdout).toMatch(/^3 /);
  });

  test('a reader that goes away ends the command as SIGPIPE would; a full disk with a line; neither with a trace', () => {
    file('endless.c', '#include <stdio.h>\nint main(void) { for (;;) puts("y"); }\n');
    expect(sh(`(kcovbox run endless.c; echo "status $?" >&2) | head -1`)).toEqual({
      status: 0,
      stdout: 'y\n',
      stderr: 'status 141\n',
    });
    const full = sh(`kcovbox run endless.c > /dev/full`);
    expect(full).toMatchObject({
      status: 125,
      stderr: 'kcovbox: cannot write standard output: no space left on the device\n',
    });
  });

  test('remarks that cannot be written cost neither the status nor an output', () => {
    file('spins.c', '#include <stdio.h>\nint main(void) { puts("y"); for (;;); }\n');
    const outputs = ['spins.json', 'spins.kcov', 'spins.kcapsule'];
    const line = `kcovbox run --trace --result ${outputs[0]} --cover ${outputs[1]} --record ${outputs[2]} --max-insns 6000000 spins.c`;
    const made = (ran: Ran): unknown => {
      // Hashes: expect compares bytes one by one, as objects.
      const files = outputs.map(name => sha256(readFileSync(join(dir, name))));
      for (const name of outputs) rmSync(join(dir, name));
      return [ran.status, ran.stdout, files];
    };
    const normal = sh(line);
    expect(normal).toMatchObject({ status: 124, stdout: 'y\n' });
    expect(normal.stderr).toMatch(/the instruction budget is spent/);
    const wanted = made(normal);
    expect(made(sh(`${line} 2>/dev/full`))).toEqual(wanted);
    expect(made(sh(`${line} 2>&-`))).toEqual(wanted);
    const gone = sh(`exec 3>&1; { ${line} 2>&1 >&3; echo "status $?" >&3; } | true`);
    expect(gone.stdout).toBe('y\nstatus 124\n');
    expect(made({ ...gone, status: 124, stdout: 'y\n' })).toEqual(wanted);
    const wrong = (redirection: string) => sh(`kcovbox run --no-such spins.c ${redirection}`).status;
    expect([wrong('2>/dev/full'), wrong('2>&-')]).toEqual([125, 125]);
  });

  test('an interrupted run is recorded until then', () => {
    const tick =
      '#include <stdio.h>\n#include <unistd.h>\nint main(void) { for (;;) { puts("tick"); fflush(stdout); sleep(1); } }\n';
    file('tick.c', tick);
    sh('kcovbox build tick.c');
    const line =
      'kcovbox run --record tick.kcapsule tick.c < /dev/null > ticks & pid=$!; while ! test -s ticks; do sleep 0.1; done; kill -INT $pid; wait $pid';
    expect(sh(line).status).toBe(130);
    const { status, stdout, stderr } = sh('kcovbox replay tick.kcapsule');
    expect(stderr).toMatch(/the same run/);
    expect(stdout).toBe(readFileSync(join(dir, 'ticks'), 'utf8'));
    expect(status).toBe(130);
  });

  test('outputs are written whole or not at all, and refused before the run where they cannot be', () => {
    file('kept.info', 'before');
    expect(
      sh('kcovbox run --cover kept.info --format cobertura --max-insns 100 --kcov guest exit7.c').status,
    ).not.toBe(7);
    const { status, stdout, stderr } = sh('kcovbox run --cover nowhere/x.info exit7.c');
    expect({ status, stdout, stderr }).toEqual({
      status: 125,
      stdout: '',
      stderr: 'kcovbox: cannot write nowhere/x.info: no such folder\n',
    });
    expect(sh('kcovbox run --result . exit7.c').stderr).toBe('kcovbox: cannot write .: it is a folder\n');
    expect(readdirSync(dir).filter(name => name.endsWith('.tmp'))).toEqual([]);
  });
});

describe('errors are one line', () => {
  const cases: readonly (readonly [string, readonly string[], RegExp])[] = [
    ['a missing file', ['run', 'nothing.c'], /program nothing\.c: no such file/],
    ['a missing ELF', ['run', 'nothing'], /program nothing: no such file/],
    ['a folder', ['run', '.'], /is a folder/],
    [
      'an unknown dialect',
      ['run', '--dialect', 'plan9', 'exit7.c'],
      /plan9.*openbsd, netbsd, freebsd, linux/,
    ],
    ['a RAM size of 1', ['run', '-m', '1', 'exit7.c'], /-m.*16M to 2G/],
    ['no harts', ['run', '--smp', '0', 'exit7.c'], /--smp.*1 to 8/],
    ['an unknown verb', ['frobnicate'], /frobnicate/],
    ['an unknown option', ['run', '--frobnicate', 'exit7.c'], /--frobnicate/],
    ['nothing to boot', ['boot', '-m', '64M'], /-kernel/],
    ['an unknown boot option', ['boot', '-kernel', 'x', '-frobnicate', '1'], /-frobnicate/],
    ['a missing kernel', ['boot', '-kernel', 'none'], /kernel none: no such file/],
    ['words that are no instructions', ['disasm', '12', '13'], /neither a file nor an instruction word/],
  ];
  test.each(cases)('%s', (_, args, message) => {
    const { status, stderr, stdout } = kcovbox(args);
    expect(stderr).toMatch(message);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(stdout).toBe('');
    expect(status).toBe(125);
  });

  const binaries: readonly (readonly [string, Uint8Array, RegExp])[] = [
    ['0 bytes', new Uint8Array(0), /is empty/],
    [
      'text',
      new TextEncoder().encode('hello, world\n'.repeat(20)),
      /neither C source \(\.c\) nor an ELF file/,
    ],
    ['another machine', elfHeader(62, 64), /ELF machine 62/],
    ['a cut header', elfHeader(243, 30), /truncated/],
  ];
  test.each(binaries)('a program of %s', (_, bytes, message) => {
    const { status, stderr } = kcovbox(['run', file('binary', bytes)]);
    expect(stderr).toMatch(message);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(status).toBe(125);
  });

  test("a program that does not compile: the compiler's words, then our line", () => {
    const { status, stderr } = kcovbox(['run', file('broken.c', 'int main(void) { return x; }\n')]);
    expect(stderr).toMatch(/broken\.c:1:\d+: error: use of undeclared identifier 'x'/);
    expect(stderr.trimEnd().split('\n').at(-1)).toMatch(/^kcovbox: .*broken\.c does not compile$/);
    expect(status).toBe(123);
  });
});

describe('a run is the same run every time', () => {
  let counter = 0;
  const result = (args: readonly string[], cwd = dir): Omit<RunResult, 'host'> & { cover: string } => {
    const base = join(dir, `run${counter++}`);
    const { status, stderr } = kcovbox(
      ['run', '--result', `${base}.json`, '--cover', `${base}.kcov`, ...args],
      { cwd },
    );
    expect(stderr).toBe('');
    expect(status).toBe(0);
    const { host, ...rest } = runResult.parse(JSON.parse(readFileSync(`${base}.json`, 'utf8')));
    expect(host.node).toBe(process.version);
    return { ...rest, cover: readFileSync(`${base}.kcov`).toString('base64') };
  };

  // chains.slow.test.ts compares 1,800.
  test('four runs agree in state, console, coverage and instruction count', () => {
    const first = result([EXAMPLE]);
    expect(first.outcome.records).toBeGreaterThan(5);
    for (let i = 1; i < 4; i++) expect(result([EXAMPLE])).toEqual(first);
  });

  test('both engines, from different folders, agree', () => {
    const other = join(dir, 'other');
    mkdirSync(other, { recursive: true });
    const jit = result(['--engine', 'jit', EXAMPLE]);
    expect(result(['--engine', 'interp', EXAMPLE])).toEqual(jit);
    expect(result(['--engine', 'interp', EXAMPLE], other)).toEqual(jit);
  });
});

describe('doctor', () => {
  const doctor = (env: NodeJS.ProcessEnv): Ran => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [COMMAND, 'doctor'], {
      encoding: 'utf8',
      env,
    });
    return { status, stdout, stderr };
  };
  test('is content when everything is installed', () => {
    expect(doctor(process.env)).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('everything is installed'),
    });
  });
  test('a cache that takes no folders is one line, not a hang', () => {
    for (const verb of [
      ['cache', 'ls'],
      ['run', EXAMPLE],
    ]) {
      const { status, stderr } = spawnSync(process.execPath, [COMMAND, ...verb], {
        encoding: 'utf8',
        timeout: 20_000,
        env: { ...process.env, KCOVBOX_CACHE: '/proc' },
      });
      if (verb[0] === 'cache') expect([status, stderr]).toEqual([0, '']);
      else
        expect([status, stderr]).toEqual([
          125,
          expect.stringMatching(/^kcovbox: cannot write the cache \/proc.*\n$/),
        ]);
    }
  });
  test('names what is missing and one line that brings all of it', () => {
    const { status, stdout, stderr } = doctor({ PATH: dir, KCOVBOX_CACHE: join(dir, 'args.c') });
    expect(status).toBe(125);
    expect(stdout).toMatch(/^missing +clang 16 or newer/m);
    expect(stdout).toMatch(/^wrong +cache folder .*set KCOVBOX_CACHE/m);
    expect(stdout).toMatch(/apt-get install .* clang-19 lld-19 llvm-19 make$/m);
    expect(stdout).toMatch(/^absent +bubblewrap, for grade +apt-get install .* bubblewrap$/m);
    expect(stdout).toMatch(/^cannot: demo, .*; needs .*cache folder/m);
    expect(stderr).toBe('');
  });
});

describe('the main job', () => {
  test('the demo names the system call entry before the read path', () => {
    const { status, stdout } = kcovbox(['demo']);
    expect(status).toBe(0);
    const [entry, read] = [stdout.indexOf('syscall_dispatch'), stdout.indexOf('sys_read')];
    expect(entry).toBeGreaterThan(0);
    expect(read).toBeGreaterThan(entry);
    expect(stdout).toMatch(/sys_read\s+kernel\/fs\/sys_rw\.c:\d+/);
  });
});
