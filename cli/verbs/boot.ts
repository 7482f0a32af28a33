// `kcovbox boot`: any kernel, in QEMU's spelling, so that a line written for
// `qemu-system-riscv64 -M virt` works here.
import type { Command } from 'commander';
import type { MachineOptions, VirtioOption } from '../../emulator/index.ts';
import { openDisk, readInput } from '../../host/input.ts';
import { describeOptions, parseQemu, type QemuOptions } from '../boot/qemu-options.ts';
import { chooseFormat } from '../cov/formats.ts';
import { GuestConsole } from '../io/console.ts';
import { UserError } from '../io/fail.ts';
import { checkOutput } from '../io/output.ts';
import { exactWindow } from '../run/execute.ts';
import { explain, runSession } from '../run/session.ts';

/** Larger files do not fit into the RAM of any guest; an ELF file may also hold debug data. */
const IMAGE_MAX = 2 ** 30;

const image = (path: string, what: string) => ({ name: path, bytes: readInput(path, what, IMAGE_MAX) });

function virtioOf(options: QemuOptions): VirtioOption[] {
  return options.devices.map(({ kind, drive, slot }) => {
    const found = drive === undefined ? undefined : options.drives.find(d => d.id === drive);
    if (kind === 'blk' && !found)
      throw new UserError(`-device virtio-blk-device: no -drive has id=${drive ?? ''}`);
    return {
      kind,
      ...(slot === undefined ? {} : { slot }),
      ...(found ? { image: openDisk(found.file), readOnly: found.readOnly } : {}),
    };
  });
}

export function toMachineOptions(options: QemuOptions): MachineOptions {
  const { bios } = options;
  return {
    ...(options.kernel === undefined ? {} : { kernel: image(options.kernel, 'kernel') }),
    ...(options.initrd === undefined ? {} : { initrd: image(options.initrd, 'initrd') }),
    bios: bios === 'default' || bios === 'none' ? bios : image(bios, 'bios'),
    append: options.append,
    ...(options.dtb === undefined ? {} : { dtb: image(options.dtb, 'dtb') }),
    loads: options.loads.map(({ file, bytes, ...load }) => ({
      ...load,
      image: file === undefined ? { name: '-device loader', bytes: bytes! } : image(file, 'loader file'),
    })),
    icountShift: options.icountShift,
    ...(options.rtcBase === undefined ? {} : { rtcBase: options.rtcBase }),
    ...(options.cpu === undefined ? {} : { cpu: options.cpu }),
    ramBytes: options.memory,
    harts: options.smp,
    engine: options.engine,
    kcov: options.kcov,
    virtio: virtioOf(options),
    virtioLegacy: options.virtioLegacy,
    ...(options.seed === undefined ? {} : { seed: options.seed }),
  };
}

/** What `--exact --cover FILE -k ELF` asks for. */
async function exactOf({ cover, exact, image, kernel }: QemuOptions) {
  if (!exact && cover === undefined) return undefined;
  if (!exact) throw new UserError('boot: --cover counts instructions here; add --exact');
  if (cover === undefined) throw new UserError('boot: --exact without --cover: add --cover FILE');
  const elf = image ?? kernel;
  if (elf === undefined) throw new UserError('boot: --exact needs an image; add -k ELF');
  checkOutput(cover);
  const format = chooseFormat(cover, undefined, '--cover');
  return { cover, format, image: elf, machine: await exactWindow(cover, format, elf) };
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
        '  -device virtio-rng-device | virtio-serial-device | loader,file=F,addr=A   -global virtio-mmio.force-legacy=false\n' +
        '  -icount shift=N|auto   2^N ns of guest time per instruction     -no-reboot   -rtc base=DATE\n' +
        '  -s  -S  -gdb tcp::PORT   a GDB stub, on the loopback interface\n' +
        'Own options:\n' +
        '  --engine jit|interp|lockstep   --kcov device|off   --seed HEX   --max-insns N\n' +
        '  --interactive                  deliver piped input as it comes, for a co-process\n' +
        '  --exact --cover FILE -k ELF    which source lines of an image ran, by retired instructions\n' +
        '\nExample:\n  kcovbox boot -bios none -kernel kernel -m 128M -smp 3 -nographic \\\n' +
        '    -drive file=fs.img,if=none,format=raw,id=x0 -device virtio-blk-device,drive=x0,bus=virtio-mmio-bus.0',
    )
    .action(async (words: string[]) => {
      const options = parseQemu(words);
      if (options.wants === 'help') return command.help();
      if (options.wants === 'version') return void process.stdout.write(`${program.version()}\n`);
      if (options.wants === 'help-qemu') return void process.stdout.write(`${describeOptions()}\n`);
      for (const warning of options.warnings) process.stderr.write(`kcovbox: ${warning}\n`);
      const exact = await exactOf(options);
      const console = new GuestConsole({ binary: true, silent: options.isSilent });
      const end = await runSession({
        machine: { ...toMachineOptions(options), ...exact?.machine },
        endsInOrder: exact !== undefined,
        console,
        input: !options.isSilent,
        isInteractive: options.interactive === true,
        isBusyGuest: true,
        noReboot: options.noReboot,
        ...(options.gdb ? { gdb: options.gdb } : {}),
        ...(options.maxInsns === undefined ? {} : { maxInsns: options.maxInsns }),
      });
      const why = explain(end);
      if (why) process.stderr.write(`kcovbox: ${why}\n`);
      if (exact) {
        const { writeExact } = await import('../cov/cover.ts');
        const counts = { low: exact.machine.retired.low, counts: end.machine.retired!.counts };
        await writeExact(exact.cover, exact.format, counts, exact.image, exact.image);
      }
      process.exitCode = end.signalStatus || end.status;
    });
}
