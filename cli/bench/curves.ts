// `kcovbox bench --curves`: CPU time of whole runs against the size of the guest: RAM, harts,
// processes. Twice the size may cost twice as much, not more: the last column is the cost of each
// further unit, and it should not grow down the table.
import { join } from 'node:path';
import { packageRoot } from '../../toolchain/index.ts';
import { median, type Sample, time } from './cold.ts';

export interface Point {
  readonly size: number;
  readonly samples: readonly number[];
  readonly seconds: number;
}

export interface Curve {
  readonly name: string;
  readonly unit: string;
  readonly points: readonly Point[];
}

interface Axis {
  readonly name: string;
  readonly unit: string;
  readonly sizes: readonly number[];
  /** Arguments of `kcovbox run`. */
  args(size: number): readonly string[];
}

const source = (...path: string[]): string => join(packageRoot(), ...path);
const PROCESSES = (): string => source('bench', 'guest', 'processes.c');

const AXES: readonly Axis[] = [
  {
    name: 'guest RAM, boot and hello',
    unit: 'MiB',
    sizes: [64, 128, 256, 512, 1024, 2048],
    args: size => ['-m', `${size}M`, source('examples', 'hello.c')],
  },
  {
    name: 'harts, boot and 8 processes',
    unit: 'harts',
    sizes: [1, 2, 4, 8],
    args: size => ['--smp', `${size}`, PROCESSES(), '--', '8'],
  },
  {
    name: 'processes alive at once, each computing as much',
    unit: 'processes',
    sizes: [1, 10, 100, 300, 1000],
    args: size => ['-m', '512M', PROCESSES(), '--', `${size}`],
  },
];

export type CurveProgress = (done: number, total: number, what: string) => void;

/** Measures all sizes in turn, `rounds` times. */
export async function runCurves(rounds: number, progress?: CurveProgress): Promise<readonly Curve[]> {
  const samples = new Map<string, number[]>();
  const total = (rounds + 1) * AXES.reduce((sum, axis) => sum + axis.sizes.length, 0);
  let done = 0;
  // Round -1 fills caches.
  for (let round = -1; round < rounds; round++)
    for (const axis of AXES)
      for (const size of axis.sizes) {
        progress?.(done++, total, `${size} ${axis.unit}`);
        const kcovbox = join(packageRoot(), 'bin', 'kcovbox.cjs');
        const sample: Sample = await time([process.execPath, kcovbox, 'run', ...axis.args(size)]);
        const key = `${axis.name} ${size}`;
        if (round >= 0) samples.set(key, [...(samples.get(key) ?? []), sample.cpu]);
      }
  progress?.(total, total, 'done');
  return AXES.map(({ name, unit, sizes }) => ({
    name,
    unit,
    points: sizes.map(size => {
      const of = samples.get(`${name} ${size}`) ?? [];
      return { size, samples: of, seconds: median([...of]) };
    }),
  }));
}

/** Markdown, a table per curve. */
export function curvesTable(curves: readonly Curve[]): string {
  return curves
    .map(({ name, unit, points }) => {
      const first = points[0]!;
      const lines = points.map(({ size, seconds }) => {
        const each = (seconds - first.seconds) / (size - first.size);
        return `| ${size} | ${seconds.toFixed(2)} | ${size === first.size ? '' : (1000 * each).toFixed(2)} |`;
      });
      const head = [`| ${unit} | CPU s | ms per unit beyond ${first.size} |`, '| ---: | ---: | ---: |'];
      return [`${name}:`, '', ...head, ...lines].join('\n');
    })
    .join('\n\n');
}
