// The package as a user installs it: from the tarball, without a compiler or network, on every
// supported Node.js.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildKernel, buildProgram, DIALECTS } from '../../toolchain/index.ts';
import type { Assets } from '../../web/protocol.ts';
import { CHROMIUM, QUIET } from '../coverage/browser.ts';
import { kcovbox as command, type Ran, ROOT, withoutProgress } from '../support/command.ts';
import { nodeVersions } from '../support/nodes.ts';
import { installPacked } from '../support/packed.ts';

const dir = mkdtempSync(join(tmpdir(), 'kcovbox-package-'));
const home = join(dir, 'home');
const app = join(dir, 'app');
const bin = join(app, 'node_modules', '.bin', 'kcovbox');
/** With the page, whose scripts and programs take 0.7 MB. */
const LIMIT = 6_000_000;

/**
 * The ELF file in a root file system that has only one: from its magic to the padding of the
 * archive.
 */
const programIn = (initrd: Buffer): Buffer =>
  initrd.subarray(initrd.indexOf('\u007fELF', 0, 'latin1'), initrd.lastIndexOf('070701'));

const isRoot = process.getuid?.() === 0;
if (!isRoot) console.warn('skipped: only root can be a user whom the system does not know');

let tarball = '';
beforeAll(() => {
  ({ tarball } = installPacked(dir));

  const golden = join(ROOT, 'test', 'capsule', 'count.kcapsule');
  expect(command(['capsule', 'extract', '-o', join(dir, 'parts'), golden], { cwd: dir }).stderr).toBe('');
  writeFileSync(join(dir, 'golden'), programIn(readFileSync(join(dir, 'parts', 'initrd.bin'))));
  const args = ['run', '--record', join(dir, 'checkout.kcapsule'), join(dir, 'golden'), '--', 'one'];
  expect(command(args, { cwd: dir, input: 'twelve bytes' })).toMatchObject({ status: 5, stderr: '' });
}, 600_000);
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** A folder with this Node.js and the shell, and nothing else. */
function toolsOf(major: number, node: string): string {
  const tools = join(dir, `path-${major}`);
  if (!existsSync(tools)) {
    mkdirSync(tools);
    symlinkSync(node, join(tools, 'node'));
    for (const name of ['env', 'sh'])
      for (const place of ['/usr/bin', '/bin'])
        if (!existsSync(join(tools, name)) && existsSync(join(place, name)))
          symlinkSync(join(place, name), join(tools, name));
  }
  return tools;
}

type Node = ReturnType<typeof nodeVersions>[number];
const inPackage = (path: string) => join('node_modules', 'kcovbox', path);

const kcovbox = (node: Node, ...args: string[]): Ran => fed('', node, ...args);

/** Runs the installed command with `input`. */
const fed = (input: string, node: Node, ...args: string[]): Ran => inFolder(app, input, node, ...args);

function inFolder(cwd: string, input: string, node: Node, ...args: string[]): Ran {
  return atHome(join(home, `${node.major}`), cwd, input, node, ...args);
}

/** With `HOME`, whose cache may be empty. */
function atHome(HOME: string, cwd: string, input: string, node: Node, ...args: string[]): Ran {
  const env = { PATH: toolsOf(node.major, node.path), HOME, XDG_CACHE_HOME: join(HOME, 'cache') };
  const { status, stdout, stderr } = spawnSync(bin, args, { cwd, encoding: 'utf8', input, env });
  return { status, stdout, stderr };
}

test('the tarball is small, and has what it needs', () => {
  expect(statSync(tarball).size).toBeLessThan(LIMIT);
  expect(Object.keys(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).dependencies)).toEqual([
    '@alexaltea/capstone-js',
  ]);
  expect(readdirSync(toolsOf(0, process.execPath)).sort()).toEqual(['env', 'node', 'sh']);
});

test('grading with a compiler and the cache in the home folder, where KCOVBOX_CACHE is not set', () => {
  const folder = join(dir, 'class');
  mkdirSync(folder);
  const solution = join(ROOT, 'labs', '00-first-trace', 'teacher', 'solution');
  cpSync(solution, join(folder, 'ada'), { recursive: true });
  const HOME = join(dir, 'teacher');
  mkdirSync(HOME);
  const env = { PATH: process.env['PATH'], HOME };
  const graded = spawnSync(bin, ['grade', folder, '--lab', '0'], { cwd: dir, encoding: 'utf8', env });
  expect([graded.status, withoutProgress(graded.stderr)]).toEqual([0, '']);
  expect(graded.stdout).toMatch(/^ada +100\/100 +pass .*\n1 submission, /);
});

/** `kcovbox serve` of the package; the caller ends it. */
async function serving(node: Node): Promise<{ address: string; child: ChildProcess }> {
  const HOME = join(home, `${node.major}`);
  const env = { PATH: toolsOf(node.major, node.path), HOME, XDG_CACHE_HOME: join(HOME, 'cache') };
  const child = spawn(bin, ['serve', '--port', '0'], { cwd: app, env, stdio: ['ignore', 'pipe', 'inherit'] });
  const address = await new Promise<string>((done, failed) => {
    child.stdout.once('data', (line: Buffer) => done(line.toString().trim()));
    child.once('close', () => failed(new Error('serve ended')));
  });
  return { address, child };
}

test.skipIf(!existsSync(CHROMIUM))(
  'the page of the package runs in a browser as it was recorded',
  async () => {
    const { address, child } = await serving(versions[0]!);
    const browser = await chromium.launch({ executablePath: CHROMIUM, args: QUIET });
    try {
      const page = await browser.newPage();
      const errors: string[] = [];
      page.on('pageerror', error => errors.push(error.message));
      for (const program of ['bare', 'race']) {
        await page.goto(`${address}#program=${program}`);
        await page.waitForSelector('.verdict.same', { timeout: 120_000 });
      }
      // Types of the kernel are in the part that is loaded late.
      await page.goto(`${address}#program=bare&file=kernel/fs/sys_rw.c&line=74`);
      await page.reload(); // before its run is there: the address must not change
      await page.waitForSelector('.l-covered', { timeout: 120_000 });
      expect(errors).toEqual([]);
    } finally {
      await browser.close();
      child.kill();
    }
  },
);

/**
 * Each version of Node.js runs the tests whose results could depend on it; package.slow.test.ts
 * runs the rest on each, too.
 */
const isThorough = process.env['KCOVBOX_THOROUGH'] !== undefined;
const versions = nodeVersions();

describe.each(versions)('installed, without a compiler, on Node.js $major', node => {
  test('demo', () => {
    const { status, stdout, stderr } = kcovbox(node, 'demo');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('sys_read');
  });

  test('run the programs of the README', () => {
    const hello = kcovbox(node, 'run', inPackage('examples/hello.c'), '--', 'reader');
    expect(hello).toMatchObject({ status: 0, stderr: '', stdout: expect.stringContaining('reader') });
    const linux = kcovbox(
      node,
      'run',
      '--dialect',
      'linux',
      inPackage('guest-programs/linux-kcov.c'),
      '--',
      '1',
    );
    expect(linux).toMatchObject({ status: 0, stderr: '', stdout: expect.stringContaining('0x') });
    // They went on from the states behind the boot that the package has.
    const cache = join(home, `${node.major}`, 'cache', 'kcovbox');
    expect(readdirSync(cache).sort()).toContain('kernel');
    expect(readdirSync(cache)).not.toContain('booted');
  });

  test('the library example of the README prints what its comment says', () => {
    const [, text] = /## As a library\n\n```js\n([\s\S]*?)```/.exec(
      readFileSync(join(ROOT, 'README.md'), 'utf8'),
    )!;
    writeFileSync(join(app, 'example.mjs'), text!);
    const [HOME, PATH] = [join(home, `${node.major}`), toolsOf(node.major, node.path)];
    const env = { PATH, HOME, XDG_CACHE_HOME: join(HOME, 'cache') };
    const ran = spawnSync(node.path, ['example.mjs'], { cwd: app, encoding: 'utf8', env });
    expect(ran).toMatchObject({ status: 0, stderr: '', stdout: '0 hello, reader, from a riscv64 machine\n' });
    expect(text).toContain(`// ${ran.stdout}`);
  });

  test('a static ELF: run, cov, symbolize, record and replay', async () => {
    const source = join(ROOT, 'guest-programs', 'linux-kcov.c');
    const elf = (await buildProgram(source, { dialect: 'linux' })).path;
    const files = ['--cover', 'out.kcov', '--record', 'out.kcapsule'];
    const ran = kcovbox(node, 'run', '--dialect', 'linux', ...files, elf, '--', '1');
    expect(ran).toMatchObject({ status: 0, stderr: '' });
    expect(kcovbox(node, 'cov', 'stats', 'out.kcov')).toMatchObject({ status: 0, stderr: '' });
    const report = kcovbox(node, 'cov', 'report', '-o', 'out.html', 'out.kcov');
    expect(report).toMatchObject({ status: 0 });
    expect(statSync(join(app, 'out.html')).size).toBeGreaterThan(10_000);
    const pc = /0x[0-9a-f]{16}/.exec(ran.stdout)?.[0];
    expect(pc).toBeDefined();
    const kernel = kcovbox(node, 'build', 'kernel', '--dialect', 'linux').stdout.trimEnd();
    // The PC alone may fit other dialects too.
    const named = fed(pc!, node, 'symbolize', '-k', kernel);
    expect(named).toMatchObject({ status: 0, stdout: expect.stringMatching(/\.[cS]:\d+/) });
    expect(kcovbox(node, 'replay', 'out.kcapsule')).toMatchObject({ status: 0, stdout: ran.stdout });
  });

  test('a capsule of this checkout replays in an empty folder, and another is recorded with its bytes', () => {
    const empty = mkdtempSync(join(dir, 'empty-'));
    const output = 'one\n12\n';
    const replayed = inFolder(empty, '', node, 'replay', join(dir, 'checkout.kcapsule'));
    expect(replayed).toMatchObject({ status: 5, stdout: output });
    expect(replayed.stderr).toMatch(/^kcovbox: the same run: [\d,]+ instructions, state [0-9a-f]{16}\n$/);
    expect(readdirSync(empty)).toEqual([]);

    const program = join(dir, 'golden');
    const args = ['run', '--record', 'own.kcapsule', program, '--', 'one'];
    expect(inFolder(empty, 'twelve bytes', node, ...args)).toEqual({ status: 5, stdout: output, stderr: '' });
    expect(
      readFileSync(join(empty, 'own.kcapsule')).equals(readFileSync(join(dir, 'checkout.kcapsule'))),
    ).toBe(true);
    const golden = inFolder(empty, '', node, 'replay', join(ROOT, 'test', 'capsule', 'typed.kcapsule'));
    expect(golden).toMatchObject({ status: 32, stdout: 'abc' });
  });
});

describe.each(isThorough ? versions : versions.slice(0, 1))('the rest of it, on Node.js $major', node => {
  test('serve has every file that the page names, and all are whole', async () => {
    const { address, child } = await serving(node);
    try {
      const load = async (path: string): Promise<Buffer> => {
        const response = await fetch(new URL(path, address));
        expect(response.status, path).toBe(200);
        const bytes = Buffer.from(await response.arrayBuffer());
        return path.endsWith('.packed') ? gunzipSync(bytes) : bytes;
      };
      const { programs, kernels, images, sources } = JSON.parse(
        (await load('assets.packed')).toString(),
      ) as Assets;
      expect(programs.length).toBeGreaterThan(10);
      const html = (await load('')).toString();
      for (const [, path] of html.matchAll(/(?:src|href)="((?!data:)[^"#]+)"/g)) await load(path!);
      for (const { path, sha256: hash } of [
        ...images,
        ...kernels.flatMap(({ load: a, lines }) => [a, lines]),
      ])
        expect(
          createHash('sha256')
            .update(await load(path))
            .digest('hex'),
          path,
        ).toBe(hash);
      for (const { capsule } of programs) await load(capsule);
      for (const { rest } of kernels) await load(rest);
      const name = 'kernel/fs/sys_rw.c';
      const text = await load(`${sources.folder}/${name}.packed`);
      expect(text.equals(readFileSync(join(ROOT, name)))).toBe(true);
      expect((await fetch(new URL('package.json', address))).status).toBe(404);
    } finally {
      child.kill();
    }
  });

  test('lab check says that the package has no solutions, and where they are', () => {
    const { status, stdout, stderr } = kcovbox(node, 'lab', 'check', '1');
    expect([status, stdout]).toEqual([125, '01-why-this-path\n']);
    expect(stderr).toBe(
      'kcovbox: lab check: the installed package has no solutions of its labs; in a checkout of kcovbox they are ' +
        'in labs/01-why-this-path/teacher/solution: kcovbox lab check CHECKOUT/labs/01-why-this-path\n',
    );
  });

  test('labs and grading say what to install, and judge nothing', () => {
    const folder = join(app, `lab-${node.major}`);
    expect(kcovbox(node, 'lab', 'start', '1', join(folder, 'ada'))).toMatchObject({ status: 0 });
    const graded = join(app, `graded-${node.major}`);
    for (const words of [
      ['lab', 'test', join(folder, 'ada')],
      ['grade', folder, '--lab', '1', '-o', graded],
    ]) {
      const { status, stdout, stderr } = kcovbox(node, ...words);
      expect([status, stdout]).toEqual([125, '']);
      expect(stderr).toMatch(
        /^kcovbox: clang 16 or newer with the riscv64 target is not here; install it .*\n$/,
      );
    }
    expect(existsSync(graded)).toBe(false);
  });

  test('the kernels are the bytes of a build', async () => {
    for (const dialect of DIALECTS) {
      const { status, stdout } = kcovbox(node, 'build', 'kernel', '--dialect', dialect);
      expect(status).toBe(0);
      const built = await buildKernel(dialect, { source: join(ROOT, 'kernel') });
      expect(readFileSync(stdout.trimEnd()).equals(readFileSync(built.path)), dialect).toBe(true);
    }
  });

  test('a trace of another machine: every verb finds its kernel in the package', async () => {
    const elf = (await buildProgram(join(ROOT, 'guest-programs', 'linux-kcov.c'), { dialect: 'linux' })).path;
    const ran = kcovbox(node, 'run', '--dialect', 'linux', '--cover', 'away.kcov', elf);
    expect(ran.status).toBe(0);
    const fresh = (input: string, ...args: string[]): Ran =>
      atHome(mkdtempSync(join(dir, 'fresh-')), app, input, node, ...args);
    for (const verb of ['report', 'stats']) {
      const here = kcovbox(node, 'cov', verb, 'away.kcov');
      expect(here).toMatchObject({ status: 0, stderr: '', stdout: expect.stringContaining('%') });
      expect(fresh('', 'cov', verb, 'away.kcov')).toEqual(here);
    }
    const pcs = ran.stdout.match(/0xf[0-9a-f]{15}/g)!;
    const explained = fresh('', 'cov', 'explain', '-t', 'away.kcov', pcs[0]!);
    expect(explained).toMatchObject({ status: 0, stderr: '' });
    const named = fresh(pcs.join('\n'), 'symbolize');
    expect(named.stderr).toBe('kcovbox: these are PCs of the linux kernel\n');
    expect(named.stdout).toMatch(/\bkernel\/.*\.[cS]:\d+/);
  });

  test('the queue on Redis needs two packages, which it names', () => {
    const { status, stderr } = kcovbox(node, 'experiment', 'submit', 'redis', '--url', 'redis://h', 'x.yaml');
    const { peerDependencies: own } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const words = `npm install --ignore-scripts bullmq@${own.bullmq} ioredis@${own.ioredis}`;
    expect([status, stderr]).toEqual([125, expect.stringContaining(words)]);
  });

  test('what needs a compiler says so in one line', () => {
    const modified = join(app, 'own.c');
    if (!existsSync(modified)) spawnSync('sh', ['-c', `echo 'int main(void) { return 3; }' > "${modified}"`]);
    const { status, stderr } = kcovbox(node, 'run', 'own.c');
    expect(status).toBe(125);
    expect(stderr).toMatch(
      /^kcovbox: clang 16 or newer with the riscv64 target is not here; install it .*\n$/,
    );
    const doctor = kcovbox(node, 'doctor');
    expect([doctor.status, doctor.stderr]).toEqual([0, '']);
    expect(doctor.stdout).toMatch(/^works: {2}demo, run ELF, boot, replay, cov, symbolize$/m);
    expect(doctor.stdout).toMatch(/^cannot: run prog.c, .*; needs clang 16 or newer/m);
    const kasan = kcovbox(node, 'build', 'kernel', '--conf', 'linux+kasan');
    expect(kasan.status).toBe(125);
    expect(kasan.stderr).toMatch(/^kcovbox: .* is not here; install it .*\n$/);
  });

  test("without a home folder: one line that names the remedy, and a folder of one's own works", () => {
    const empty = mkdtempSync(join(dir, 'homeless-'));
    const PATH = toolsOf(node.major, node.path);
    const at = (env: Record<string, string>, ...args: string[]) => {
      const { status, stdout, stderr } = spawnSync(bin, args, {
        cwd: empty,
        encoding: 'utf8',
        env: { PATH, ...env },
      });
      return { status, stdout, stderr };
    };
    const remedy = /^kcovbox: .*; set KCOVBOX_CACHE to a folder that can be written\n$/;
    const HOME = '/proc/none';
    for (const args of [['demo'], ['build', 'kernel'], ['run', join(dir, 'golden')]])
      expect(at({ HOME }, ...args)).toEqual({
        status: 125,
        stdout: '',
        stderr: expect.stringMatching(remedy),
      });
    expect(at({ HOME }, 'doctor')).toMatchObject({
      status: 125,
      stdout: expect.stringMatching(/cache folder .* cannot be written; set KCOVBOX_CACHE/),
    });
    // Empty and relative names are none: nothing is made in the working folder.
    const home = join(empty, 'home');
    for (const env of [
      { HOME: home, XDG_CACHE_HOME: '' },
      { HOME: home, XDG_CACHE_HOME: 'here' },
    ]) {
      expect(at(env, 'demo')).toMatchObject({ status: 0, stderr: '' });
      expect(readdirSync(empty)).toEqual(['home']);
    }
    expect(at({ HOME, KCOVBOX_CACHE: 'own' }, 'demo')).toMatchObject({ status: 0, stderr: '' });
    expect(readdirSync(empty).sort()).toEqual(['home', 'own']);
  });

  test.skipIf(!isRoot)('a user whom the system does not know', () => {
    chmodSync(dir, 0o755);
    const env = { PATH: toolsOf(node.major, node.path) };
    const stranger = { cwd: '/', encoding: 'utf8', env, uid: 54_321, gid: 54_321 } as const;
    const refused =
      'kcovbox: there is no home folder to hold the cache; set KCOVBOX_CACHE to a folder that can be written\n';
    expect(spawnSync(bin, ['demo'], stranger)).toMatchObject({ status: 125, stdout: '', stderr: refused });
    const doctor = spawnSync(bin, ['doctor'], stranger);
    expect(doctor).toMatchObject({ status: 125, stderr: '' });
    expect(doctor.stdout).toContain(
      'there is no home folder, so the cache cannot be written; set KCOVBOX_CACHE',
    );
  });

  test('a modified kernel source is not passed off as the prebuilt kernel', () => {
    const source = join(app, inPackage('kernel/fs/pipe.c'));
    const text = readFileSync(source);
    chmodSync(source, 0o644);
    spawnSync('sh', ['-c', `echo '/* mine */' >> "${source}"`]);
    const { status, stderr } = kcovbox(node, 'build', 'kernel');
    spawnSync('sh', ['-c', `cat > "${source}"`], { input: text });
    expect(status).toBe(125);
    expect(stderr).toMatch(/^kcovbox: .* is not here; install it .*\n$/);
    expect(kcovbox(node, 'build', 'kernel').status).toBe(0);
  });
});
