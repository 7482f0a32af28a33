// `kcovbox check`: an independent CPU, which the user installs, executes the same kernel beside
// ours. The report gives the number of instructions that agreed, or the first that did not.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Command } from 'commander';
import { EXTENSIONS, type ExtensionRow, Machine, qemuCpu } from '../../emulator/index.ts';
import { bootImages, machineOf } from '../boot/machine.ts';
import type { QemuOptions } from '../boot/options.ts';
import { parseQemu } from '../boot/qemu-options.ts';
import { Lockstep, type LockstepReport } from '../check/compare.ts';
import { QemuTrace } from '../check/qemu-trace.ts';
import { checkWithUnicorn } from '../check/unicorn.ts';
import { UserError } from '../io/fail.ts';
import { ENDING_SIGNALS, type EndingSignal, SIGNAL_STATUS } from '../io/signals.ts';

/** The default limit: long enough for a kernel's boot, short enough to wait for. */
const DEFAULT_INSNS = 1_000_000;

/** QEMU's firmware replaces the built-in one and is not compared: it would be most of the log. */
const OUTSIDE_FIRMWARE = '0x2000..0x7fffffff,0x80200000..0xffffffffffffffff';

function findQemu(): string {
  for (const directory of (process.env['PATH'] ?? '').split(delimiter)) {
    const path = join(directory, 'qemu-system-riscv64');
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {} // not here
  }
  throw new UserError('check: qemu-system-riscv64 is not installed (Debian: apt install qemu-system-misc)');
}

/** QEMU 7.2 lacks the extension; it has zihpm and switches that by `pmu-num`. */
const isNew = ({ name, presence, since }: ExtensionRow): boolean =>
  since === 10 && presence === 'switch' && name !== 'zihpm';

/** Without `-cpu`: the default hart without new extensions, because the guest would use them. */
const OLD_CPU = ['rv64', ...EXTENSIONS.filter(isNew).map(({ name }) => `${name}=off`)].join();

/** The machine that is compared. */
const machineFor = (options: QemuOptions): Machine =>
  Machine.create({
    ...machineOf({ cpu: OLD_CPU, ...options }, bootImages(options)),
    kcov: 'off',
    engine: 'interp',
  });

/** The board's CPU and the user's images in QEMU's words. */
function qemuArgs(options: QemuOptions, machine: Machine): string[] {
  const args = ['-cpu', qemuCpu(machine.options.extensions), '-bios', options.bios];
  if (options.kernel !== undefined) args.push('-kernel', options.kernel);
  if (options.initrd !== undefined) args.push('-initrd', options.initrd);
  if (options.append !== '') args.push('-append', options.append);
  for (const drive of options.drives)
    args.push('-drive', `file=${drive.file},if=none,format=raw,id=${drive.id},readonly=on`);
  for (const device of options.devices) {
    if (device.kind !== 'blk')
      throw new UserError(`check: virtio ${device.kind} reads the host, so nothing is compared`);
    const bus = device.slot === undefined ? '' : `,bus=virtio-mmio-bus.${device.slot}`;
    args.push('-device', `virtio-blk-device,drive=${device.drive}${bus}`);
  }
  return args;
}

/**
 * The device tree, with the compatible strings of devices that QEMU lacks changed so that no driver
 * matches.
 */
function withoutOwnDevices(fdt: Uint8Array): Uint8Array {
  const text = Buffer.from(fdt).toString('latin1');
  return Buffer.from(text.replaceAll('kcovbox,', 'missing,'), 'latin1');
}

/** Runs both; the report says how many instructions agree. */
export async function checkWithQemu(options: QemuOptions): Promise<LockstepReport> {
  if (options.smp !== 1) throw new UserError(`check: one hart can be compared, not ${options.smp}`);
  const machine = machineFor(options);
  const trace = new QemuTrace({
    program: findQemu(),
    args: qemuArgs(options, machine),
    ramBytes: options.memory,
    dtb: withoutOwnDevices(machine.booted.fdt),
    ...(machine.sbi === undefined ? {} : { filter: OUTSIDE_FIRMWARE }),
  });
  const lockstep = new Lockstep(machine);
  const limit = options.maxInsns ?? DEFAULT_INSNS;
  const adopt = (): void => {
    trace.readRam(machine.ram.data);
    machine.engine.reset();
  };
  // QEMU is ahead of its log, so the kernel may already have written to its data; these stay as
  // loaded, because firmware does not write to them.
  const adoptAroundKernel = (): void => {
    const { kernel, image } = machine.booted;
    const { start, end } = kernel ?? image!;
    const loaded = machine.ram.read(start, end - start);
    adopt();
    machine.ram.write(start, loaded);
  };
  // QEMU would run on without a reader.
  const onExit = (): void => trace.close();
  const onSignal = (signal: EndingSignal): void => process.exit(SIGNAL_STATUS[signal]);
  process.on('exit', onExit);
  for (const signal of ENDING_SIGNALS) process.on(signal, onSignal);
  try {
    // With the built-in firmware we adopt QEMU's memory when its firmware jumps to the kernel, else
    // before the first instruction.
    const [atEntry, atReset] = machine.sbi === undefined ? [() => {}, adopt] : [adoptAroundKernel, () => {}];
    await trace.run(state => lockstep.step(state, atEntry) && lockstep.report.agreed < limit, atReset);
  } finally {
    trace.close();
    process.off('exit', onExit);
    for (const signal of ENDING_SIGNALS) process.off(signal, onSignal);
  }
  return lockstep.report;
}

export function register(program: Command): void {
  program
    .command('check')
    .description('execute an image on QEMU or Unicorn too, and compare the registers after every instruction')
    .argument('[options...]')
    .usage('[options of qemu-system-riscv64]')
    .allowUnknownOption()
    .helpOption('-h, --help')
    .passThroughOptions()
    .addHelpText(
      'after',
      '\nThe options are those of `kcovbox boot`, and --oracle, which names the other CPU:\n' +
        '  --oracle qemu      any kernel, one hart; needs qemu-system-riscv64 (default)\n' +
        '  --oracle unicorn   bare-metal M-mode images (-bios none); needs libunicorn2 and the npm package koffi\n' +
        'The comparison ends after one million instructions, or as many as --max-insns says. Counters, device\n' +
        'registers and interrupts are taken over from QEMU, and their number is printed.\n' +
        'The exit status is 0 if all instructions agreed, else 1.\n' +
        'Example:\n  kcovbox check -kernel kernel.elf -append "init=/init" --max-insns 500000',
    )
    .action(async (words: string[]) => {
      const { oracle, rest } = takeOracle(words);
      const options = parseQemu(rest, 'check');
      const lines = oracle === 'qemu' ? await qemuLines(options) : await unicornLines(options);
      process.stdout.write(`${lines.text.join('\n')}\n`);
      process.exitCode = lines.isDifferent ? 1 : 0;
    });
}

/** Separates `--oracle NAME`, the only option that `boot` lacks. */
function takeOracle(words: readonly string[]): { oracle: 'qemu' | 'unicorn'; rest: string[] } {
  const at = words.indexOf('--oracle');
  if (at < 0) return { oracle: 'qemu', rest: [...words] };
  const oracle = words[at + 1];
  if (oracle !== 'qemu' && oracle !== 'unicorn')
    throw new UserError(`check: --oracle ${oracle ?? ''}: one of qemu, unicorn`);
  const rest = [...words.slice(0, at), ...words.slice(at + 2)];
  if (rest.includes('--oracle')) throw new UserError('check: --oracle is given twice: leave one of them out');
  return { oracle, rest };
}

interface Lines {
  readonly text: string[];
  readonly isDifferent: boolean;
}

async function qemuLines(options: QemuOptions): Promise<Lines> {
  const report = await checkWithQemu(options);
  const adopted = [...report.adopted].map(([what, count]) => `${count} ${what}`).join(', ') || 'nothing';
  const summary = `${report.agreed} instructions agreed with qemu; taken over: ${adopted}; ${report.interrupts} interrupts`;
  return { text: [summary, ...(report.difference ?? [])], isDifferent: report.difference !== undefined };
}

async function unicornLines(options: QemuOptions): Promise<Lines> {
  if (options.bios !== 'none')
    throw new UserError(
      'check: unicorn has no firmware; use -bios none with a bare-metal image, or --oracle qemu',
    );
  const machine = machineFor(options);
  const report = await checkWithUnicorn(machine, options.maxInsns ?? DEFAULT_INSNS);
  const summary = `${report.agreed} instructions agreed with unicorn; ${report.passedOver} passed over`;
  return { text: [summary, ...(report.difference ?? [])], isDifferent: report.difference !== undefined };
}
