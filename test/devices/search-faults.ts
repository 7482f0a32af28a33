// Faults that the search over devices must find: each is put into the sources of the devices, and
// the search that is built with it has to report something.

import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { expect } from 'vitest';
import type { Search as SearchType } from './search/search.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** The fault, its file, and the text with its replacement. */
export type Fault = readonly [name: string, file: string, from: string, to: string];

export const FAULTS: readonly Fault[] = [
  [
    'rings may overlap, and a request may go on for ever',
    'devices/virtio-queue.ts',
    'work < limit && finished < most',
    'true',
  ],
  ['buffers may lie outside ram', 'devices/virtio-queue.ts', '!this.#ram.has(addr, bytes)', 'addr < 0'],
  [
    'an index may lie outside its table',
    'devices/virtio-queue.ts',
    'if (index >= entries) return',
    'if (index > 2 ** 40) return',
  ],
  [
    'rings may lie outside ram',
    'devices/virtio-queue.ts',
    'rings.every(([at, bytes]) => this.#ram.has(at, bytes))',
    'true',
  ],
  [
    'the descriptor table is not known to be an indirect one',
    'devices/virtio-queue.ts',
    'if (isIndirect || ',
    'if (table !== this.state.desc || ',
  ],
  ['chains may have any number of descriptors', 'devices/virtio-queue.ts', 'left > 0; left--', 'left > 0;'],
  ['pieces may have any length', 'devices/virtio-queue.ts', 'Math.min(PIECE, end - skip)', 'end - skip'],
  ['a walk is free', 'devices/virtio-queue.ts', 'work += DESC_WORK * this.#walked;', ''],
  [
    'the limit of a step is not told to the device',
    'devices/virtio-queue.ts',
    'Math.max(1, limit - work)',
    'Infinity',
  ],
  ['work is not paid', 'devices/virtio-mmio.ts', 's.paid = Math.max(s.paid, now) + step.work;', ''],
  [
    'the request in progress is not saved',
    'devices/virtio-mmio.ts',
    'q.state = { ...s.queues[i]! };',
    'q.state = { ...s.queues[i]!, done: 0 };',
  ],
  [
    'the end of the disk is not checked',
    'devices/virtio-blk.ts',
    'this.#readOnly || !(at + bytes <= this.#disk.bytes)',
    'this.#readOnly',
  ],
  [
    'a request for random bytes has no limit',
    'devices/virtio-rng.ts',
    'Math.min(REQUEST_MAX, length(chain.writable))',
    'length(chain.writable)',
  ],
  [
    'a deadline after the wrap of mtime is in the past',
    'devices/clint.ts',
    'this.#after(Number((high ? WRAP : ticks) - mtime))',
    'Number((high ? WRAP : ticks) - this.#offset) * this.#tick',
  ],
  [
    'switches have any number of cases',
    'devices/kcov-record.ts',
    'Math.min(cases, LIMIT.SWITCH_CASES)',
    'cases',
  ],
  ['chains of nodes have any length', 'devices/kcov-seen.ts', "if (steps.left === 0) return 'limit';", ''],
  ['a pool may lie outside ram', 'devices/kcov-seen.ts', '!ram.has(pool, nodes * nodeBytes)', 'false'],
  ['an area may lie outside ram', 'devices/kcov-record.ts', '!ram.has(area, size * 8)', 'false'],
  ['the capacity of an area is not checked', 'devices/kcov-record.ts', 'count >= capacity || ', ''],
  [
    'a context is checked only when it is set',
    'devices/kcov.ts',
    'return this.#isContext(ctx) ? ctx : 0;',
    'return ctx;',
  ],
  [
    'a switch table may lie outside ram',
    'devices/kcov-record.ts',
    '!ram.has(table + 16, cases * 8)',
    'false',
  ],
  ['loading a snapshot reports errors again', 'devices/kcov.ts', 'this.#regs.error = [...s.regs.error];', ''],
  ['the range of a transfer is not checked', 'devices/edu.ts', ' || !this.#ram.has(memory, count)', ''],
  ['the buffer of edu has no end', 'devices/edu.ts', 'own + count > EDU_BUFFER_BYTES || ', ''],
  [
    'a listener changes a record',
    'devices/kcov.ts',
    'const isCmp = words.length > 2;',
    'const isCmp = words.length > 2; words[0] = 0;',
  ],
  ['fw_cfg copies all bytes at once', 'devices/fw-cfg.ts', 'Math.min(BURST, s.left)', 's.left'],
  [
    'a request to fw_cfg may lie outside ram',
    'devices/fw-cfg.ts',
    'if (!ram.has(address, REQUEST_BYTES)) return;',
    '',
  ],
  [
    'a request to fw_cfg may lead outside ram',
    'devices/fw-cfg.ts',
    'ram.has(target, s.left);',
    'ram.has(target, 1);',
  ],
  ['work of fw_cfg is not told', 'devices/fw-cfg.ts', 'work.spend(burst);', ''],
  [
    'a read of fw_cfg in progress is not saved',
    'devices/fw-cfg.ts',
    'this.#s = { ...(state as State) };',
    'this.#s = { ...(state as State), left: 0 };',
  ],
  [
    'fw_cfg goes on at once',
    'devices/fw-cfg.ts',
    'this.#alarm.set(clock.now() + burst);',
    'this.#alarm.set(clock.now());',
  ],
  [
    'the fifo of the uart grows',
    'devices/uart16550.ts',
    's.fifo.length < this.#depth()) s.fifo.push(byte)',
    'true) s.fifo.push(...Array(60_000).fill(byte))',
  ],
];

export const sourceOf = (file: string): string => readFileSync(resolve(ROOT, file), 'utf8');

/** The search with a fault in the devices; its modules are written to `directory`. */
async function searchWith([, file, from, to]: Fault, directory: string): Promise<typeof SearchType> {
  const path = resolve(ROOT, file);
  const source = sourceOf(file);
  expect(source.includes(from), `${file} holds ${from}`).toBe(true);
  const outfile = join(directory, `${Math.abs(hash(file + from))}.mjs`);
  await build({
    ...{ entryPoints: [join(ROOT, 'test/devices/search/search.ts')], outfile, bundle: true },
    ...{ format: 'esm', platform: 'node', logLevel: 'error' },
    plugins: [
      {
        name: 'fault',
        setup(b) {
          b.onLoad({ filter: /\.ts$/ }, args =>
            args.path === path ? { contents: source.replace(from, to), loader: 'ts' } : undefined,
          );
        },
      },
    ],
  });
  return (await import(pathToFileURL(outfile).href)).Search;
}

const hash = (text: string): number =>
  [...text].reduce((h, c) => (Math.imul(h, 31) + c.charCodeAt(0)) | 0, 7);

/**
 * Seeds that show a fault within a hundred programs, for faults that the first seeds show behind
 * thousands. Where a change of the search moves it, the first seeds find it all the same.
 */
const NEAR: Readonly<Record<string, number>> = {
  'rings may overlap, and a request may go on for ever': 101,
  'switches have any number of cases': 100,
  'a request for random bytes has no limit': 115,
  'the end of the disk is not checked': 102,
  'work is not paid': 202,
};

/**
 * Fails unless the search reports the fault. `isNear`: it begins with the seed that is known to
 * show it.
 */
export async function expectFound(fault: Fault, directory: string, isNear = false): Promise<void> {
  const Search = await searchWith(fault, directory);
  const near = isNear ? NEAR[fault[0]] : undefined;
  const doses = [1, 2, 3, 4, 5, 6, 7, 8].map(seed => [seed, 2500] as const);
  let report: string | undefined;
  let programs = 0;
  for (const [seed, most] of near === undefined ? doses : [[near, 100] as const, ...doses]) {
    const result = new Search().run(seed, most);
    report = result.report;
    programs += result.programs;
    if (report !== undefined) break;
  }
  expect(report).toBeDefined();
  console.log(
    `after ${programs} programs, ${report!.split('\n').length - 2} actions left: ${report!.split('\n')[0]!.slice(0, 160)}`,
  );
}
