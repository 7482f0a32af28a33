// `kcovbox dev`: texts made from the definition of a device: C header, page, registers.
import type { Command } from 'commander';
import { deviceRegisters, headerOf, pageOf, rdlOf } from '../../emulator/index.ts';
import { writeTo } from '../io/output.ts';
import { loadDevices } from '../run/devices.ts';

export function register(program: Command): void {
  const dev = program
    .command('dev')
    .description('print texts made from the definition of a device: C header, page, register map')
    .addHelpText('after', '\nExample:\n  kcovbox dev header -o mydev.h mydev.ts');
  const add = (
    name: string,
    what: string,
    text: (device: Awaited<ReturnType<typeof loadDevices>>[number]) => string,
  ): void => {
    dev
      .command(name)
      .description(what)
      .argument('<device>', 'FILE.ts[,NAME=VALUE]...')
      .option('-o, --output <file>', 'write to a file; - for standard output', '-')
      .addHelpText('after', `\nExample:\n  kcovbox dev ${name} mydev.ts,depth=8`)
      .action(async (path: string, { output }: { output: string }) => {
        const [device] = await loadDevices([path]);
        writeTo(output, text(device!));
      });
  };
  add('header', 'print the C header: offsets, masks, values', ({ definition }) => headerOf(definition));
  add('page', 'print a Markdown page: registers, fields, parameters', ({ definition }) => pageOf(definition));
  add('rdl', 'print the register map as SystemRDL 2.0, for PeakRDL and other tools', ({ definition }) =>
    rdlOf(definition),
  );
  add('regs', 'print the registers and fields with their values after reset', deviceRegisters);
}
