// Plans about kernels that are none of kcovbox: description and images determine the machine, and
// a plan of a stranger names no image that a campaign does not have.
import { describe, expect, test } from 'vitest';
import {
  codeOf,
  guestImages,
  imagesOf,
  kernelText,
  planHash,
  subjectOf,
  variantHash,
} from '../../experiment/plan.ts';
import { experimentPlan, type FuzzPlan, type PlannedOther } from '../../experiment/schema.ts';
import { campaignConfig } from '../../fuzz/index.ts';
import { describedMachine, describeTarget } from '../../host/fuzz/boot-target.ts';
import { targetMachine } from '../../host/fuzz/target-machine.ts';
import { firstIssue } from '../../run/issue.ts';
import { sha256 } from '../../toolchain/index.ts';

const [kernel, initrd] = [Uint8Array.of(1, 2, 3), Uint8Array.of(4, 5)];
const { seed: _, ...campaign } = campaignConfig.parse({});

function targetOf(kind: 'other' | 'xv6') {
  const append = kind === 'other' ? 'quiet panic=-1' : '';
  const stored = { kernel, initrd, append, tail: '', hasThreads: false, kind };
  const images = { kernel, loaded: undefined, initrd, append, tail: undefined };
  return { images, machine: targetMachine(stored, 'jit'), kind };
}

const HASH = 'ab'.repeat(32);

const variantOf = (target: 'other' | 'xv6'): PlannedOther => ({
  name: 'a',
  run: describeTarget(targetOf(target)).run,
  target,
  ...(target === 'other' ? { symbols: HASH } : { tree: HASH }),
  campaign,
  descriptions: 'cd'.repeat(32),
});

const planOf = (variant: PlannedOther): FuzzPlan => ({
  format: 'kcovbox experiment plan',
  version: 1,
  name: 'x',
  kind: 'fuzz',
  baseline: 'a',
  budget: { executions: 64 },
  bugs: {},
  stopWhenFound: false,
  functions: [],
  variants: [variant],
  trials: [{ variant: 'a', index: 0, seed: '0x1' }],
});

describe.each(['other', 'xv6'] as const)('%s', kind => {
  const { machine } = targetOf(kind);
  const variant = variantOf(kind);

  test('the machine of the description is that of fuzz run', () => {
    const { run, images } = describeTarget(targetOf(kind));
    const again = describedMachine(run, hash => images.get(hash)!, 'jit');
    const { kernel: file, initrd: loaded, virtio = [], ...others } = machine;
    expect(again).toMatchObject(others);
    expect(again.kernel!.bytes).toEqual(file!.bytes);
    expect(again.initrd?.bytes).toEqual(loaded?.bytes);
    expect(again.virtio).toHaveLength(virtio.length);
    for (const [i, device] of virtio.entries()) expect(again.virtio![i]).toMatchObject(device);
    const defaults = { bios: 'default', kcov: 'device', icountShift: 0, virtioLegacy: true };
    for (const [name, value] of Object.entries(defaults))
      if (!(name in others)) expect(again).toMatchObject({ [name]: value });
  });

  test('it is a plan, whose hash covers kernel, sources or symbols, and disk or initrd', () => {
    const plan = planOf(variant);
    expect(experimentPlan.parse(JSON.parse(JSON.stringify(plan)))).toEqual(plan);
    const { images } = variant.run;
    const other = 'ef'.repeat(32);
    const changed: PlannedOther[] = [
      { ...variant, run: { ...variant.run, images: { ...images, kernel: other } } },
      { ...variant, run: { ...variant.run, images: { ...images, initrd: other, drives: [other] } } },
      { ...variant, ...(kind === 'other' ? { symbols: other } : { tree: other }) },
    ];
    const hashes = [plan, ...changed.map(planOf)].map(planHash);
    expect(new Set(hashes).size).toBe(hashes.length);
    expect(new Set([variant, ...changed].map(variantHash)).size).toBe(hashes.length);
  });

  test('it needs its images, and points are those of the file with symbols', () => {
    const own = [sha256(kernel), sha256(initrd)];
    expect(guestImages(variant)).toEqual(own);
    expect(codeOf(variant)).toBe(kind === 'other' ? HASH : own[0]);
    const all = kind === 'other' ? [...own, HASH] : own;
    expect(imagesOf(variant)).toEqual([...all, variant.descriptions]);
    expect(subjectOf(variant)).toBe(kind === 'other' ? 'linux' : 'xv6');
    expect(kernelText(variant)).toBe(
      kind === 'other' ? `linux ${own[0]!.slice(0, 16)}` : `xv6 ${HASH.slice(0, 16)}`,
    );
  });

  test.each([
    ['firmware', { images: { bios: HASH } }],
    ['a device tree', { images: { dtb: HASH } }],
    ['images besides the kernel', { images: { loads: [{ sha256: HASH, at: null, raw: true }] } }],
    ['no kernel', { images: { kernel: null } }],
    ['a disk that is not there', { virtio: [{ kind: 'blk', slot: 1, drive: 1, readOnly: false }] }],
  ] as const)('a plan with %s is refused', (_name, { images = {}, virtio }: Other) => {
    const { run } = variant;
    const machineOf = virtio ? { ...run.machine, virtio } : run.machine;
    const bad = { ...run, images: { ...run.images, ...images }, machine: machineOf };
    const parsed = experimentPlan.safeParse({ ...planOf(variant), variants: [{ ...variant, run: bad }] });
    expect(parsed.success).toBe(false);
    expect(JSON.stringify(parsed.error)).toContain('nothing else to boot');
  });
});

test('a plan that is damaged says where', () => {
  const variant = variantOf('xv6');
  const damaged = { ...variant, run: { ...variant.run, append: 7 } };
  const { error } = experimentPlan.safeParse({ ...planOf(variant), variants: [damaged] });
  expect(firstIssue(error!)).toMatch(/^variants\.0\.run\.append: /);
});

interface Other {
  readonly images?: object;
  readonly virtio?: unknown;
}
