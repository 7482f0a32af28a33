// `kcovbox build kernel|PROG.c`: the guest's binaries, for other tools.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { type Command, Option } from 'commander';
import { visible } from '../../emulator/base/words.ts';
import { compileProgram } from '../../host/guest.ts';
import { buildKernel, DIALECTS, type Dialect, tell } from '../../toolchain/index.ts';
import { UserError } from '../io/fail.ts';
import { checkOutput, writeFile, writeOut } from '../io/output.ts';
import { confOf } from '../run/robust.ts';

const UNUSED_BY_KERNEL = { cflags: '--cflags' };
const UNUSED_BY_PROGRAMS = { conf: '--conf', kernelSource: '--kernel-source' };

export function register(program: Command): void {
  program
    .command('build')
    .description('compile the guest kernel, or a C program for the guest')
    .argument('<what>', '"kernel", or a C source file')
    .addOption(
      new Option('--dialect <name>', 'personality of the kernel and of the headers')
        .choices(DIALECTS)
        .default('openbsd'),
    )
    .option('--conf <name>', 'kernel: configuration by its files in kernel/conf: openbsd+debug+kasan')
    .option(
      '--kernel-source <dir>',
      "kernel: another tree, a copy of kernel/ that you changed; runs the tree's Makefile",
    )
    .option('--cflags <flags>', 'program: more compiler flags, separated by blanks')
    .option(
      '-o, --output <file>',
      'output file; - for standard output (default: print the path in the cache)',
    )
    .addHelpText(
      'after',
      '\nExamples:\n  kcovbox build kernel --dialect linux -o kernel.elf\n' +
        '  kcovbox build kernel --kernel-source my-kernel\n  kcovbox build prog.c -o prog',
    )
    .action(
      async (
        what: string,
        options: {
          dialect: Dialect;
          conf?: string;
          kernelSource?: string;
          cflags?: string;
          output?: string;
        },
        command: Command,
      ) => {
        const unused = what === 'kernel' ? UNUSED_BY_KERNEL : UNUSED_BY_PROGRAMS;
        for (const [name, flag] of Object.entries(unused))
          if (options[name as keyof typeof options] !== undefined)
            throw new UserError(`build ${what}: ${flag} does not apply to it; leave it out`);
        const isGiven = command.getOptionValueSource('dialect') === 'cli';
        if (options.conf !== undefined)
          confOf(options.conf, options.kernelSource, isGiven ? options.dialect : undefined);
        checkOutput(options.output);
        const cflags = options.cflags?.split(/\s+/).filter(Boolean) ?? [];
        const { path, built } =
          what === 'kernel'
            ? await buildKernel(options.conf ?? options.dialect, { source: options.kernelSource })
            : await compileProgram(what, { dialect: options.dialect, cflags });
        if (options.output && options.output !== '-') writeFile(options.output, readFileSync(path), 0o755);
        tell(`${visible(basename(what))}: ${built ? 'built' : 'up to date'}\n`);
        if (options.output === '-') writeOut(readFileSync(path));
        else console.log(options.output ?? path);
      },
    );
}
