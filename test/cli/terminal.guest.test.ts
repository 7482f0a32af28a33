// `kcovbox run` at a real terminal: a pseudo-terminal, and a script in the role of the user
// (person.py).
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findProgram, missing } from '../support/tools.ts';

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const COMMAND = join(ROOT, 'bin', 'kcovbox.cjs');
const PERSON = join(ROOT, 'test', 'cli', 'person.py');
const PYTHON = findProgram('python3');
const dir = mkdtempSync(join(tmpdir(), 'kcovbox-terminal-'));

interface Ended {
  status: number;
  text: string;
  restored: boolean;
}

/** Runs a guest program while somebody does what `script` says. */
function at(script: string, program: string, ...options: string[]): Ended {
  const command = [process.execPath, COMMAND, 'run', ...options, join(dir, program)];
  const { stdout, stderr } = spawnSync(PYTHON!, [PERSON, ...command], {
    encoding: 'utf8',
    input: script.trim().replaceAll(/^ +/gm, ''),
    timeout: 150_000,
  });
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout) as Ended;
}

const PROGRAMS = {
  // Tests of the terminal, its keys, and changes of its size.
  'keys.c': `
    #include <signal.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <sys/ioctl.h>
    #include <termios.h>
    #include <unistd.h>
    static void size(const char *when) {
        struct winsize w;
        if (ioctl(0, TIOCGWINSZ, &w)) exit(99);
        printf("%s %dx%d\\n", when, w.ws_row, w.ws_col);
    }
    static void changed(int sig) { size("changed"); }
    int main(void) {
        struct termios t;
        setvbuf(stdout, NULL, _IONBF, 0);
        signal(SIGWINCH, changed);
        size("size");
        printf("tty %d %d\\n", isatty(0), isatty(1));
        tcgetattr(0, &t);
        cfmakeraw(&t);
        t.c_oflag |= OPOST | ONLCR;
        tcsetattr(0, TCSANOW, &t);
        puts("ready");
        for (;;) {
            int c = getchar();
            if (c == EOF) { clearerr(stdin); continue; }
            if (c == 'q') return 3;
            printf("<%02x>", c);
        }
    }`,
  'lines.c': `
    #include <stdio.h>
    #include <string.h>
    int main(void) {
        char line[4096];
        setvbuf(stdout, NULL, _IONBF, 0);
        puts("ready");
        while (fgets(line, sizeof line, stdin)) {
            line[strcspn(line, "\\n")] = 0;
            printf("[%s]\\n", line);
        }
        puts("end");
        return 4;
    }`,
  'count.c': `
    #include <stdio.h>
    #include <string.h>
    #include <termios.h>
    #include <unistd.h>
    int main(void) {
        char b[512];
        long n, total = 0, bad = 0;
        const char *pattern = "012345678901234567890123456789012345678901234567890123456789abc\\n";
        struct termios t;
        tcgetattr(0, &t);
        t.c_lflag &= ~ECHO;
        tcsetattr(0, TCSANOW, &t);
        write(1, "ready\\n", 6);
        while ((n = read(0, b, sizeof b)) > 0) {
            for (long i = 0; i < n; i++) bad += b[i] != pattern[(total + i) % 64];
            total += n;
        }
        printf("%ld bytes, %ld wrong\\n", total, bad);
        return bad != 0;
    }`,
  'busy.c': `
    #include <stdio.h>
    int main(void) { puts("ready"); fflush(stdout); for (;;); }`,
};

beforeAll(() => {
  for (const [name, text] of Object.entries(PROGRAMS)) {
    writeFileSync(join(dir, name), text);
    const built = spawnSync(process.execPath, [COMMAND, 'build', join(dir, name)], { encoding: 'utf8' });
    if (built.status !== 0) throw new Error(built.stderr);
  }
}, 120_000);
afterAll(() => rmSync(dir, { recursive: true, force: true }));

describe.skipIf(missing('python3', PYTHON))('at a terminal', () => {
  test('a program sees the size, its changes, and single keys as they are typed', () => {
    const ended = at(
      String.raw`
      expect size 24x80
      expect tty 1 1
      expect ready
      send a\x03\x1a\x1b[A
      expect <61><03><1a><1b><5b><41>
      size 50 132
      expect changed 50x132
      send é
      expect <c3><a9>
      send \x01\x01
      expect <01>
      send q`,
      'keys.c',
    );
    expect(ended).toMatchObject({ status: 3, restored: true });
    expect(ended.text).toContain('size 24x80\r\n');
  });

  test('lines are edited, echoed once, and Ctrl-D ends the input', () => {
    const ended = at(
      String.raw`
      expect ready
      send helo\x7flo wörld\r
      expect [hello wörld]
      send \x04
      expect end`,
      'lines.c',
    );
    expect(ended).toMatchObject({ status: 4, restored: true });
    expect(ended.text.match(/\[hello/g)).toHaveLength(1);
  });

  test("Ctrl-C is the guest program's, also while that computes", () => {
    const ended = at('expect ready\nsend \\x03', 'busy.c');
    expect(ended).toMatchObject({ status: 130, restored: true });
    expect(ended.text).not.toContain('interrupted');
  });

  test('Ctrl-A x leaves', () => {
    const ended = at('expect ready\nsend \\x01x', 'keys.c');
    expect(ended).toMatchObject({ status: 130, restored: true });
    expect(ended.text).toContain('kcovbox: interrupted');
  });

  test('a paste of 100 KB arrives whole', () => {
    const ended = at('expect ready\npaste 102400\nsend \\x04\nexpect bytes,', 'count.c');
    expect(ended.text).toContain('102400 bytes, 0 wrong');
    expect(ended).toMatchObject({ status: 0, restored: true });
  });

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ])('%s to the command ends it with %i, the terminal as it was', (signal, status) => {
    expect(at(`expect ready\nsignal ${signal}`, 'keys.c')).toMatchObject({ status, restored: true });
  });

  test('a terminal that hangs up ends the command', () => {
    expect(at('expect ready\nclose', 'keys.c').status).toBe(-1); // by SIGHUP, as others
  });

  test('a terminal that hangs up leaves the outputs', () => {
    const files = ['hung.kcapsule', 'hung.json', 'hung.html'].map(name => join(dir, name));
    const [record, result, cover] = files as [string, string, string];
    const outputs = ['--trace', '--record', record, '--result', result, '--cover', cover];
    expect(at('expect ready\nwait 1\nclose', 'busy.c', ...outputs).status).toBe(-1);
    for (const file of files) expect(existsSync(file), file).toBe(true);
  });

  test('a spent budget and a program that does not compile leave the terminal as it was', () => {
    expect(at('expect budget', 'busy.c', '--max-insns', '4000000')).toMatchObject({
      status: 124,
      restored: true,
    });
    writeFileSync(join(dir, 'broken.c'), 'int main(void) { return x; }\n');
    expect(at('expect does not compile', 'broken.c')).toMatchObject({ status: 123, restored: true });
  });

  test('what was typed and resized is in the capsule, whose replay is the same run', () => {
    const file = join(dir, 'typed.kcapsule');
    const script = 'expect ready\nsend abc\nexpect <63>\nsize 30 100\nexpect changed 30x100\nsend q';
    expect(at(script, 'keys.c', '--record', file).status).toBe(3);
    const { status, stdout, stderr } = spawnSync(process.execPath, [COMMAND, 'replay', file], {
      encoding: 'utf8',
      input: '',
      timeout: 100_000,
    });
    expect(stderr).toMatch(/^kcovbox: the same run: [\d,]+ instructions, state [0-9a-f]{16}\n$/);
    expect(stdout).toContain('<61><62><63>changed 30x100\n');
    expect(status).toBe(3);
  });
});

const BUSYBOX = join(ROOT, '.cache', 'guests', 'bin', 'busybox');

describe.skipIf(
  missing('python3', PYTHON) ||
    missing('busybox (node setup/fetch-guests.mjs)', existsSync(BUSYBOX) ? BUSYBOX : undefined),
)('a shell at a terminal', () => {
  // The shell gets keys that are typed before it has given the terminal to a program: hence the
  // waits.
  test('edits lines, remembers them, and has jobs that can be stopped and interrupted', () => {
    const command = [process.execPath, COMMAND, 'run', BUSYBOX, '--', 'sh'];
    const script = String.raw`
      expect #_
      send echo $((6*7)) ab\x7fc\r
      expect 42 ac
      wait 0.5
      send stty size\r
      expect 24 80
      wait 0.5
      send cat\r
      wait 1
      send x\r
      expect x\r\nx
      send \x1a
      expect Stopped
      wait 0.5
      send fg\r
      expect cat
      wait 1
      send \x03
      expect #_
      wait 0.5
      send sleep 1000\r
      wait 1
      send \x03
      expect #_
      wait 0.5
      send echo again\r
      expect \r\nagain
      wait 0.5
      send \x1b[A\r
      expect \r\nagain
      wait 0.5
      send exit 9\r`;
    const { stdout, stderr } = spawnSync(PYTHON!, [PERSON, ...command], {
      encoding: 'utf8',
      input: script.trim().replaceAll(/^ +/gm, '').replaceAll('#_', '# '),
      timeout: 150_000,
    });
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toMatchObject({ status: 9, restored: true });
  });
});
