// `kcovbox doctor --boot`: how large the guest kernel of each dialect is, and what it takes to boot
// it to a program.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMachine } from '../../emulator/index.ts';
import { imageOptions } from '../../host/machine.ts';
import { DIALECTS, type Dialect } from '../../toolchain/index.ts';
import { UserError } from '../io/fail.ts';
import { prepareGuest } from './guest.ts';

/** More than any boot takes. */
const BUDGET = 100_000_000;

export interface BootReport {
  readonly dialect: Dialect;
  readonly textKib: number;
  readonly imageKib: number;
  /** From the kernel's first C function to the program's first instruction. */
  readonly instructions: number;
  /** From the first instruction to power-off, without building and loading. */
  readonly seconds: number;
}

/** Boots the kernel of `dialect` to a program that ends at once. */
async function measure(dialect: Dialect, program: string): Promise<BootReport> {
  const images = await prepareGuest(program, [], { dialect, kcov: 'device', append: 'bootinfo' });
  let text = '';
  const start = process.hrtime.bigint();
  const machine = createMachine({
    ...imageOptions(images),
    ramBytes: 128 << 20,
    onConsole: byte => {
      text += String.fromCharCode(byte);
    },
  });
  machine.run(BUDGET);
  const seconds = Number(process.hrtime.bigint() - start) / 1e9;
  const [, ticks, textKib, imageKib] =
    /boot: (\d+) ticks of 100 ns, text (\d+) KiB, image (\d+) KiB/.exec(text) ?? [];
  if (!ticks) throw new UserError(`the ${dialect} kernel did not boot: ${text.slice(-200)}`);
  // one hart executes 100 instructions per tick
  const instructions = Number(ticks) * 100;
  return { dialect, textKib: Number(textKib), imageKib: Number(imageKib), instructions, seconds };
}

/** One report for each dialect. Errors: UserError when a kernel does not boot. */
export async function measureBoots(): Promise<BootReport[]> {
  const dir = mkdtempSync(join(tmpdir(), 'kcovbox-boot-'));
  try {
    const program = join(dir, 'nothing.c');
    writeFileSync(program, 'int main(void) { return 0; }\n');
    const reports: BootReport[] = [];
    for (const dialect of DIALECTS) reports.push(await measure(dialect, program));
    return reports;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** As lines for people. */
export function describeBoots(reports: readonly BootReport[]): string {
  const rows = reports.map(({ dialect, textKib, imageKib, instructions, seconds }) =>
    [
      dialect.padEnd(8),
      `text ${textKib} KiB`.padEnd(13),
      `image ${imageKib} KiB`.padEnd(14),
      `${instructions.toLocaleString('en-US')} instructions`.padEnd(23),
      `${(seconds * 1e3).toFixed(0)} ms`,
    ].join('  '),
  );
  return ['booting to a program (128 MiB, one hart, JIT):', ...rows.map(row => `  ${row}`)].join('\n');
}
