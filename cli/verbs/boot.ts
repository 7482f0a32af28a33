// `kcovbox boot`: any kernel, in QEMU's spelling, so that a line written for
// `qemu-system-riscv64 -M virt` works here.
import type { Command } from 'commander';
import { RUN_HASH_INTERVAL } from '../../emulator/index.ts';
import type { BootImages } from '../../host/boot-machine.ts';
import { readInput } from '../../host/input.ts';
import { CONSOLE_KEPT, INPUT_MAX, LOADS_MAX } from '../../run/index.ts';
import { tell } from '../../toolchain/index.ts';
import { bootImages, machineOf } from '../boot/machine.ts';
import type { QemuOptions } from '../boot/options.ts';
import { DEVICES } from '../boot/qemu-devices.ts';
import { describeOptions, parseQemu } from '../boot/qemu-options.ts';
import { chooseFormat } from '../cov/formats.ts';
import { GuestConsole } from '../io/console.ts';
import { ConsoleLog } from '../io/console-log.ts';
import { UserError } from '../io/fail.ts';
import { checkDistinct, checkOutput, writeEach } from '../io/output.ts';
import { exactWindow } from '../run/execute.ts';
import { explain, runSession } from '../run/session.ts';

/** Checks --record; refused if the file could not repeat the run. */
function checkRecord({ record, thin, gdb, loads }: QemuOptions): void {
  if (thin && record === undefined)
    throw new UserError('boot: --thin without --record: it leaves the images out of the capsule');
  if (record === undefined) return;
  checkOutput(record);
  if (gdb) throw new UserError('boot: --record without -gdb: a debugger can change the guest');
  if (loads.length > LOADS_MAX)
    throw new UserError(`boot: --record holds at most ${LOADS_MAX} images of -device loader`);
}

/** Refuses outputs that would replace an image or each other. */
function checkFiles({ record, savevm, cover, drives, loads, ...one }: QemuOptions): void {
  const outputs = [
    ['--record', record],
    ['-savevm', savevm],
    ['--cover', cover],
  ] as const;
  const bios = ['default', 'none'].includes(one.bios) ? undefined : one.bios;
  const images = [one.kernel, one.initrd, one.dtb, bios, one.image, one.loadvm];
  checkDistinct(outputs, [...images, ...[...drives, ...loads].map(({ file }) => file)]);
}

/** The request of `--exact --cover FILE -k ELF`. */
async function exactOf({ cover, exact, image, kernel }: QemuOptions) {
  if (!exact && cover === undefined) return undefined;
  if (!exact) throw new UserError('boot: --cover counts instructions here; add --exact');
  if (cover === undefined) throw new UserError('boot: --exact without --cover: add --cover FILE');
  const elf = image ?? kernel;
  if (elf === undefined) throw new UserError('boot: --exact needs an image; add -k ELF');
  checkOutput(cover);
  const format = chooseFormat(cover, undefined, '--cover');
  return { cover, format, name: elf, ...(await exactWindow(cover, format, readInput(elf, 'image'), elf)) };
}

/** How the run is saved, and from where it goes on. Errors: UserError. */
async function momentsOf(
  options: QemuOptions,
  images: BootImages,
  console: GuestConsole,
  log: ConsoleLog | undefined,
) {
  const { savevm, snapshotAt = 'first-instruction', loadvm } = options;
  if (savevm === undefined && options.snapshotAt !== undefined)
    throw new UserError('boot: --snapshot-at without -savevm: add -savevm FILE');
  if (savevm === undefined && loadvm === undefined) return {};
  for (const [name, given] of [
    ['-gdb', options.gdb],
    ['--exact', options.exact],
  ] as const)
    if (given) throw new UserError(`boot: -savevm and -loadvm without ${name}`);
  const [{ contextOf }, { saveAt, startFrom }] = await Promise.all([
    import('../boot/record.ts'),
    import('../run/moments.ts'),
  ]);
  if (savevm === '-') throw new UserError('boot: -savevm -: a snapshot is a file; give its name');
  if (savevm !== undefined) checkOutput(savevm);
  const run = contextOf(options, images);
  const start = loadvm === undefined ? undefined : startFrom(loadvm, run);
  if (start && log) {
    if (start.console === null || start.from.snapshot.observed.runHash?.interval !== RUN_HASH_INTERVAL)
      throw new UserError(`-loadvm ${loadvm} with an output: it does not have what happened before`);
    log.update(start.console);
  }
  const saving = savevm === undefined ? undefined : saveAt(savevm, snapshotAt, run, console, log!);
  return { ...(saving && { saving }), ...(start && { start: start.from }) };
}

export function register(program: Command): void {
  const command = program
    .command('boot')
    .description('boot any kernel; options are spelled as for qemu-system-riscv64 -M virt')
    .argument('[options...]')
    .usage('[options of qemu-system-riscv64]')
    .allowUnknownOption()
    .helpOption('-h, --help')
    .passThroughOptions()
    .addHelpText(
      'after',
      '\nQEMU options (--help-qemu lists all of them with their effect here):\n' +
        '  -kernel FILE  -initrd FILE  -append STR  -bios default|none|FILE  -dtb FILE  -m SIZE  -smp N\n' +
        '  -cpu rv64|rva22s64|max[,EXT=on|off...]   extensions (docs/isa.md)\n' +
        '  -drive file=F,if=none,format=raw,id=ID[,readonly=on]  -device virtio-blk-device,drive=ID[,bus=virtio-mmio-bus.N]\n' +
        `  -device ${DEVICES.map(({ name }) => name).join(' | ')}\n` +
        '  -device loader,file=F,addr=A   -global virtio-mmio.force-legacy=false\n' +
        '  -icount shift=N|auto   2^N ns of guest time per instruction     -no-reboot   -rtc base=DATE\n' +
        '  -s  -S  -gdb tcp::PORT   a GDB stub, on the loopback interface\n' +
        'Own options:\n' +
        '  --engine jit|interp|lockstep   --kcov device|off   --seed HEX   --max-insns N\n' +
        '  --record FILE [--thin]         write a capsule, for kcovbox replay; thin: without the images\n' +
        '  -savevm FILE [--snapshot-at N|first-instruction]   -loadvm FILE   a snapshot; going on from it\n' +
        '  --interactive                  deliver piped input as it comes, for a co-process\n' +
        '  --cold                         compile as in a first run, without the profile of earlier ones\n' +
        '  --exact --cover FILE -k ELF    which source lines of an image ran, by retired instructions\n' +
        '\nExample:\n  kcovbox boot -bios none -kernel kernel -m 128M -smp 3 -nographic \\\n' +
        '    -drive file=fs.img,if=none,format=raw,id=x0 -device virtio-blk-device,drive=x0,bus=virtio-mmio-bus.0',
    )
    .action(async (words: string[]) => {
      const options = parseQemu(words);
      if (options.wants === 'help') return command.help();
      if (options.wants === 'version') return void process.stdout.write(`${program.version()}\n`);
      if (options.wants === 'help-qemu') return void process.stdout.write(`${describeOptions()}\n`);
      for (const warning of options.warnings) tell(`kcovbox: ${warning}\n`);
      checkFiles(options);
      const exact = await exactOf(options);
      checkRecord(options);
      const images = bootImages(options);
      if (options.record !== undefined) (await import('../boot/record.ts')).checkBoot(options);
      const wantsLog = options.record !== undefined || options.savevm !== undefined;
      const log = wantsLog ? new ConsoleLog(CONSOLE_KEPT) : undefined;
      const silent = options.isSilent || options.record === '-';
      const hasFiles = exact !== undefined || wantsLog;
      const console = new GuestConsole({ binary: true, silent, log, hasFiles });
      const { saving, start } = await momentsOf(options, images, console, log);
      // Of the snapshot from which it goes on; else that of results.
      const interval = start ? start.snapshot.observed.runHash?.interval : RUN_HASH_INTERVAL;
      const hasChain = (log !== undefined || start !== undefined) && interval !== undefined;
      const end = await runSession({
        machine: {
          ...machineOf(options, images),
          ...(exact && { retired: exact.retired }),
          ...(hasChain && { runHash: interval }),
        },
        endsInOrder: hasFiles,
        console,
        input: !options.isSilent,
        isInteractive: options.interactive === true,
        isCold: options.cold === true,
        isBusyGuest: true,
        maxInput: options.record === undefined ? undefined : INPUT_MAX,
        noReboot: options.noReboot,
        ...(start && { from: start }),
        ...(saving && { stop: saving }),
        ...(options.gdb ? { gdb: options.gdb } : {}),
        ...(options.maxInsns === undefined ? {} : { maxInsns: options.maxInsns }),
      });
      const why = explain(end);
      if (why) tell(`kcovbox: ${why}\n`);
      await writeEach([
        () => saving?.check(end.machine.spent),
        async () => {
          if (!exact) return;
          const { writeExact } = await import('../cov/cover.ts');
          const counts = { low: exact.retired.low, counts: end.machine.retired!.read() };
          await writeExact(exact.cover, exact.format, counts, exact.elf, exact.name);
        },
        async () => {
          if (options.record !== undefined)
            (await import('../boot/record.ts')).recordBoot(options, images, end, log!);
        },
        () => console.check(),
      ]);
      process.exitCode = end.signalStatus || end.status;
    });
}
