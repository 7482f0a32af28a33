// A kernel of the user's own: an image, or a tree that is built.
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { run as runInGuest } from '../../library/node.ts';
import { kcovbox, ROOT } from '../support/command.ts';

const dir = mkdtempSync(join(tmpdir(), 'kcovbox-own-'));
const tree = join(dir, 'my-kernel');
const program = join(dir, 'pipes.c');
const run = (...args: string[]) => kcovbox(['run', ...args], { cwd: dir });

beforeAll(() => {
  cpSync(join(ROOT, 'kernel'), tree, { recursive: true });
  const source = join(tree, 'trap', 'trap.c');
  const text = readFileSync(source, 'utf8');
  // Other code too: an image of equal bytes would be that of the package's tree as well.
  const edited = text.replace(
    'user_exception(tf);',
    '{ $& __asm__ volatile("nop"); } /* a line of my own */',
  );
  writeFileSync(source, edited);
  writeFileSync(program, '#include <unistd.h>\nint main(void) { int p[2]; return pipe(p) == 0 ? 7 : 1; }\n');
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test('a tree is built and run, and a report shows its sources', () => {
  const ran = run('--kernel-source', tree, '--trace', '--cover', 'out.txt', '--format', 'source', program);
  expect(ran).toMatchObject({ status: 7, stderr: '' });
  expect(readFileSync(join(dir, 'out.txt'), 'utf8')).toContain('a line of my own');
});

test('so do reports of a saved trace, and of a replay', () => {
  const capsule = ['--trace', '--record', 'r.kcapsule'];
  expect(run('--kernel-source', tree, ...capsule, '--cover', 'own.kcov', program).status).toBe(7);
  expect(kcovbox(['replay', '--cover', 'again.html', 'r.kcapsule'], { cwd: dir }).status).toBe(7);
  const cov = (...args: string[]) => kcovbox(['cov', ...args, 'own.kcov'], { cwd: dir }).stdout;
  expect(cov('report', '--by', 'source', '-f', '^trap_handle$')).toContain('a line of my own');
  for (const verb of ['report', 'export']) cov(verb, '-o', `${verb}.html`);
  for (const page of ['again', 'report', 'export'])
    expect(readFileSync(join(dir, `${page}.html`), 'utf8')).toContain('a line of my own');
});

test('lcov and Cobertura name the files of the tree', () => {
  for (const out of ['own.info', 'own.xml'])
    expect(run('--kernel-source', tree, '--trace', '--cover', out, program).status).toBe(7);
  const read = (name: string) => readFileSync(join(dir, name), 'utf8');
  const paths = [...read('own.info').matchAll(/^SF:(.*)$/gm)].map(match => match[1]!);
  expect(paths).toContain(join(tree, 'trap', 'trap.c'));
  expect(paths.filter(path => !existsSync(path))).toEqual([]);
  const [, source] = /<source>(.*)<\/source>/.exec(read('own.xml'))!;
  const files = [...read('own.xml').matchAll(/ filename="([^"]*)"/g)].map(match => join(source!, match[1]!));
  expect(new Set(files)).toEqual(new Set(paths));
});

test('an image is run as it is, and recorded and replayed', () => {
  const built = kcovbox(['build', 'kernel', '--kernel-source', tree, '-o', 'own.elf'], { cwd: dir });
  expect(built.status).toBe(0);
  expect(run('-k', 'own.elf', '--record', 'own.kcapsule', program)).toMatchObject({ status: 7, stderr: '' });
  rmSync(join(dir, 'own.elf'));
  expect(kcovbox(['replay', 'own.kcapsule'], { cwd: dir })).toMatchObject({ status: 7 });
});

test('an image has its own dialect: programs get its headers, and so does the trace', async () => {
  const path = join(dir, 'linux.elf');
  expect(kcovbox(['build', 'kernel', '--dialect', 'linux', '-o', path], { cwd: dir }).status).toBe(0);
  const client = join(ROOT, 'guest-programs', 'linux-kcov.c');
  const ran = kcovbox(['run', '-k', path, '--cover', 'linux.kcov', client], { cwd: dir });
  expect(ran).toMatchObject({ status: 0, stderr: '' });
  const facts = kcovbox(['cov', 'stats', '-k', path, '--json', 'linux.kcov'], { cwd: dir }).stdout;
  expect(JSON.parse(facts)).toMatchObject({ dialect: 'linux' });
  expect(run('-k', path, '--dialect', 'freebsd', client)).toMatchObject({
    status: 125,
    stderr: `kcovbox: --kernel ${path} is a kernel of linux, --dialect says freebsd; omit --dialect\n`,
  });
  const ours = await runInGuest(client, { kernel: path, cover: true });
  expect(ours.trace!.dialect).toBe('linux');
  await expect(runInGuest(client, { kernel: path, dialect: 'netbsd' })).rejects.toThrow('is one of linux');
  await expect(runInGuest(client, { kernel: path, conf: 'linux' })).rejects.toThrow('omit conf');
});

test.each([
  [['-k', 'none.elf'], /^kcovbox: .*none\.elf.*\n$/],
  [['-k', 'pipes.c'], /^kcovbox: .*pipes\.c.*\n$/],
  [['-k', 'x', '--conf', 'linux'], /^kcovbox: --kernel x is already built: omit .*\n$/],
  [['-k', 'x', '--kasan'], /^kcovbox: --kernel x is already built: omit .*\n$/],
  [['--kernel-source', 'nowhere'], /^kcovbox: kernel tree .*nowhere: no such folder\n$/],
  [['--kernel-source', 'nowhere', '--conf', 'linux'], /^kcovbox: kernel tree .*nowhere: no such folder\n$/],
])('%j: one line', (args, line) => {
  const { status, stderr } = run(...args, program);
  expect(status).toBe(125);
  expect(stderr).toMatch(line);
});
