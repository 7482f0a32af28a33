// The folder of a campaign: what the names of the finds' folders cannot say.
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, it, vi } from 'vitest';
import { appendEpoch, createFolder, readFolder, repairFolder } from '../../cli/fuzz/folder.ts';
import type { DeviceFile } from '../../cli/fuzz/worker.ts';
import { harnessTexts } from '../../host/fuzz/descriptions.ts';
import { type CampaignEpoch, campaignConfig } from '../../run/fuzz/schema.ts';

const root = mkdtempSync(join(tmpdir(), 'kcovbox-folder-'));
afterAll(() => rmSync(root, { recursive: true }));
afterEach(() => void vi.unstubAllEnvs());

const PROGRAM = 'test_one_input(&"a", 0x1)\n';
const NONE: [number, number] = [0, 0];

const epochOf = (titles: readonly string[], text: string): CampaignEpoch => ({
  epoch: 0,
  entries: [],
  crashes: titles.map((title, i) => ({ title, text, execution: i + 1 })),
  words: [],
  bugs: [],
  looked: [],
  steps: [],
  yields: { new: NONE, change: NONE, step: NONE },
  units: 1,
  more: 0,
  covered: 1,
});

const begin = (name: string, texts = harnessTexts(), devices: readonly DeviceFile[] = []) =>
  createFolder(
    join(root, name),
    {
      format: 'kcovbox fuzz campaign',
      version: 1,
      config: campaignConfig.parse({}),
      conf: 'linux',
      guest: 'harness',
      words: '',
      append: '',
      tail: '',
    },
    { kernel: new Uint8Array(1), initrd: new Uint8Array(1), devices },
    texts,
  );

it('each title has a folder, even if names of folders do not tell them apart', () => {
  const titles = ['WARNING in foo', 'WARNING in __foo', 'WARNING in _foo'];
  appendEpoch(begin('titles'), epochOf(titles, PROGRAM), 0);
  const crashes = join(root, 'titles/crashes');
  const folders = ['warning-in-foo', 'warning-in-foo-2', 'warning-in-foo-3'];
  const found = () => folders.map(name => readFileSync(join(crashes, name, 'title.txt'), 'utf8').trimEnd());
  expect(readdirSync(crashes).sort()).toEqual(folders);
  expect(found()).toEqual(titles);
  rmSync(join(crashes, 'warning-in-foo-2'), { recursive: true });
  repairFolder(readFolder(join(root, 'titles')));
  expect(readdirSync(crashes).sort()).toEqual(folders);
  expect(found()).toEqual(titles);
});

it('a crash of a call without a pointer has an empty input', () => {
  const text = 'call test_one_input$none()\n';
  const { tables, sources } = harnessTexts();
  const stored = begin('none', { tables, sources: [...sources, { name: 'more.kd', text }] });
  appendEpoch(stored, epochOf(['a'], 'test_one_input$none()\n'), 0);
  expect(readFileSync(join(root, 'none/crashes/a/input.bin')).length).toBe(0);
});

it('a name that the journal has no room for is refused', () => {
  const { tables, sources } = harnessTexts();
  const text = `call test_one_input$${'a'.repeat(200)}()\n`;
  expect(() => begin('long', { tables, sources: [...sources, { name: 'long.kd', text }] })).toThrow(
    /^long\.kd:1: "test_one_input\$a+" goes on: a name has at most 64 characters$/,
  );
});

it('keeps devices of the user, and refuses one that has changed', () => {
  vi.stubEnv('KCOVBOX_TRUST', '1');
  const bytes = new TextEncoder().encode('export default {}');
  const device = { name: 'dev', path: '/elsewhere/any name.mjs', bytes, params: { depth: '8' } };
  begin('device', harnessTexts(), [device]);
  const file = join(root, 'device/devices/dev.mjs');
  expect(readFolder(join(root, 'device')).devices).toMatchObject([
    { name: 'dev', path: file, params: { depth: '8' } },
  ]);
  appendFileSync(file, ' ');
  expect(() => readFolder(join(root, 'device'))).toThrow(`${file} is not the file that campaign.json names`);
});

it.each([
  ['d.TS', 'dev.ts'],
  ['device', 'dev.ts'],
  ['d.ts.txt', 'dev.ts'],
  ['d.cjs', 'dev.cjs'],
])('a device in %s is kept as %s', (path, file) => {
  vi.stubEnv('KCOVBOX_TRUST', '1');
  const bytes = new TextEncoder().encode('export default {}');
  const name = `kept-${path}`;
  begin(name, harnessTexts(), [{ name: 'dev', path, bytes, params: {} }]);
  expect(readFolder(join(root, name)).devices[0]!.path).toBe(join(root, name, 'devices', file));
});

// A stranger's folder must not lead the files of the campaign elsewhere.
it.each(['../../victim', '..', '/tmp/x', 'a/b', ''])(
  'a bug that is named "%s" in the journal is refused',
  bug => {
    const name = `bug-${bug.replace(/\W/g, '-')}`;
    begin(name);
    const find = { bug, kind: 'triggered', text: PROGRAM, execution: 1 };
    const line = JSON.stringify({ ...epochOf([], PROGRAM), bugs: [find] });
    writeFileSync(join(root, name, 'epochs.jsonl'), `${line}\n`);
    expect(() => repairFolder(readFolder(join(root, name)))).toThrow(
      /epochs\.jsonl:1 is damaged: bugs: 0: bug/,
    );
  },
);

it.each(['entries', 'crashes', 'bugs'])('a damaged program in %s is named with its file and line', list => {
  const name = `wrong-${list}`;
  appendEpoch(begin(name), epochOf([], PROGRAM), 0);
  const more = { entries: {}, crashes: { title: 'a' }, bugs: { bug: 'a', kind: 'triggered' } }[list];
  const wrong = { ...more, text: 'nothing()\n', execution: 1 };
  const second = { ...epochOf([], PROGRAM), epoch: 1, [list]: [wrong] };
  const file = join(root, name, 'epochs.jsonl');
  appendFileSync(file, `${JSON.stringify(second)}\n`);
  expect(() => readFolder(join(root, name))).toThrow(`fuzz: ${file}:2 is damaged: ${list}[0].text:1: `);
});

it.each(['coverage.csv', 'corpus', 'crashes/a'])('a link in place of %s is refused', place => {
  const name = `link-${place.replace(/\W/g, '-')}`;
  const victim = join(root, `${name}-victim`);
  begin(name);
  mkdirSync(join(root, name, 'crashes'), { recursive: true });
  symlinkSync(victim, join(root, name, place));
  expect(() => readFolder(join(root, name))).toThrow(
    / is a symbolic link, which leads elsewhere; remove it$/,
  );
  expect(existsSync(victim)).toBe(false);
});

it('a campaign with a pattern that matches none of its calls is damaged', () => {
  begin('pattern');
  const file = join(root, 'pattern', 'campaign.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as { config: { calls?: string[] } };
  manifest.config.calls = ['x'];
  writeFileSync(file, JSON.stringify(manifest));
  expect(() => readFolder(join(root, 'pattern'))).toThrow(
    `fuzz: ${file} is damaged: config.calls: no call matches "x"`,
  );
});

const journalOf = (name: string): string => readFileSync(join(root, name, 'epochs.jsonl'), 'utf8');

it('of two processes that run a campaign, one goes on and the other ends', () => {
  const first = begin('two');
  const second = readFolder(join(root, 'two'));
  const epoch = epochOf(['a'], PROGRAM);
  const next = appendEpoch(first, epoch, 0);
  const message = /two: another process goes on with this campaign; this one ends$/;
  expect(() => appendEpoch(second, epoch, 0)).toThrow(message);
  expect(() => repairFolder(second)).toThrow(message);
  appendEpoch(next, { ...epoch, epoch: 1 }, 0);
  expect(readFolder(join(root, 'two')).epochs).toHaveLength(2);
});

it('lines that are written in another way stay, and a part of a line goes', () => {
  appendEpoch(begin('spaces'), epochOf([], PROGRAM), 0);
  const line = `${JSON.stringify(JSON.parse(journalOf('spaces')), null, ' ').replaceAll('\n', '')}\n`;
  writeFileSync(join(root, 'spaces', 'epochs.jsonl'), `${line}{"epo`);
  repairFolder(readFolder(join(root, 'spaces')));
  expect(journalOf('spaces')).toBe(line);
});
