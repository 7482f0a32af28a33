/** Detection of programs that falsify their own coverage. */
import { beforeEach, describe, expect, it } from 'vitest';
import { AreaWatch } from '../../coverage/index.ts';

const AREA = 0x8000_1000;

describe('area watch', () => {
  let memory: Map<number, bigint>;
  let findings: string[];
  let watch: AreaWatch;
  const write = (index: number, ...words: bigint[]) => {
    for (const [i, word] of words.entries()) memory.set(AREA + 8 + 8 * (index * words.length + i), word);
    const halves = words.flatMap(word => [Number(word & 0xffff_ffffn), Number(word >> 32n)]);
    watch.wrote(1, AREA, index, Uint32Array.from(halves));
  };

  beforeEach(() => {
    memory = new Map();
    findings = [];
    watch = new AreaWatch(
      address => {
        const word = memory.get(address - (address % 8));
        return word === undefined ? undefined : Number((word >> BigInt(8 * (address % 8))) & 0xffff_ffffn);
      },
      finding => findings.push(finding),
    );
  });

  it('is silent about records in order, resets to 0 and counts that a remote section raised', () => {
    for (const index of [0, 1, 2, 0, 1, 7, 8]) write(index, 0x10n + BigInt(index));
    expect(findings).toEqual([]);
  });

  it('reports a record that changed after it was written, once', () => {
    write(0, 5n, 1n, 2n, 0xffn);
    memory.set(AREA + 8 + 16, 3n);
    write(1, 5n, 1n, 2n, 0xffn);
    memory.set(AREA + 8 + 48, 3n);
    write(2, 5n, 1n, 2n, 0xffn);
    expect(findings).toEqual([
      'descriptor 1: record 0 was changed in guest memory to 0x3; the device wrote 0x2',
    ]);
  });

  it('reports a count that was set back to something else than 0', () => {
    for (const index of [0, 1, 2, 3, 2]) write(index, 1n);
    expect(findings).toEqual([
      'descriptor 1: the count in word 0 went from 4 to 2 without a reset; later records overwrote earlier ones',
    ]);
  });
});
