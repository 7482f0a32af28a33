// The options of the kernel (kernel/opt): what each folder says of itself, the table in
// docs/kernel.md, and the configuration that the awk program makes of them.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { KERNEL, OPT, options } from './options.ts';

const folders = options.map(({ folder }) => folder);

/** The output of conf/config.awk for a configuration, or its error. */
function configure(kind: 'h' | 'mk' | 'def', ...conf: readonly string[]): string {
  const files = folders.map(folder => `opt/${folder}/option`);
  const args = ['-v', `kind=${kind}`, '-f', 'conf/config.awk', ...files, ...conf];
  const { stdout, stderr, status } = spawnSync('awk', args, { cwd: KERNEL, encoding: 'utf8' });
  return status === 0 ? stdout : stderr;
}

describe('options of the kernel', () => {
  it('have names of their own, and need options that there are', () => {
    const names = options.map(option => option.name);
    expect(new Set(names).size).toBe(names.length);
    for (const { needs } of options) for (const name of needs) expect(names).toContain(name);
  });

  it('are the rows of the table in docs/kernel.md', () => {
    const text = readFileSync(resolve(KERNEL, '../docs/kernel.md'), 'utf8');
    const rows = options.map(({ folder, name, subject, needs }) =>
      `| \`${folder}\` | \`${name}\` | ${subject} | ${needs.map(need => `\`${need}\``).join(' ')} |`.replace(
        '|  |',
        '| |',
      ),
    );
    const [, table] = /\| folder of `opt\/` .*\n.*\n((?:\|.*\n)+)/.exec(text) ?? [];
    expect(table?.replaceAll('|  |', '| |').trimEnd().split('\n')).toEqual(rows);
  });

  it('a fragment without options leaves what it sets itself', () => {
    expect(configure('mk', 'conf/linux', 'conf/teach')).toMatch(/^OPTIONS := opt\/futex opt\/truncate$/m);
    expect(configure('def', 'conf/linux', 'conf/teach')).toBe('#include "opt/futex/syscalls.def"\n');
    expect(configure('h', 'conf/linux', 'conf/teach')).toMatch(/^#define CONFIG_SYSCALLS FUTEX$/m);
  });

  it('the list of system calls has the options that have some, and CONFIG_SYSCALLS names them', () => {
    const listed = configure('def', 'conf/linux').match(/opt\/\w+/g);
    const off = ['kasan', 'ubsan', 'lockdebug', 'hungtask', 'failinject', 'provoke', 'ktest', 'bugs'];
    const wanted = folders.filter(
      folder => existsSync(join(OPT, folder, 'syscalls.def')) && !off.includes(folder),
    );
    expect(listed).toEqual(wanted.map(folder => `opt/${folder}`));
    const names = options.filter(({ folder }) => wanted.includes(folder)).map(({ name }) => name);
    expect(configure('h', 'conf/linux')).toContain(`#define CONFIG_SYSCALLS ${names.join('_')}\n`);
  });

  it('one that needs another is refused without it', () => {
    const { name, needs } = options.find(option => option.needs.length > 0)!;
    const text = `personality linux\nwithout options\noptions ${name}\n`;
    const { stderr, status } = spawnSync(
      'awk',
      ['-v', 'kind=mk', '-f', 'conf/config.awk', ...folders.map(folder => `opt/${folder}/option`), '-'],
      { cwd: KERNEL, input: text, encoding: 'utf8' },
    );
    expect(status).not.toBe(0);
    expect(stderr).toContain(`option ${name} needs ${needs[0]}`);
  });
});
