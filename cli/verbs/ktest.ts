// `kcovbox ktest`: the tests inside the kernel (kernel/include/ktest.h), with coverage by test.
import { join } from 'node:path';
import type { Command } from 'commander';
import { visible } from '../../emulator/base/words.ts';
import { packageRoot, tell } from '../../toolchain/index.ts';
import { checkOutputs, execute } from '../run/execute.ts';
import { prepareGuest } from '../run/guest.ts';
import { addRobustOptions, chooseKernel } from '../run/robust.ts';
import {
  addDeviceOptions,
  addMachineOptions,
  addOutputOptions,
  deviceChoice,
  type RunOptions,
  whyEmpty,
} from './run.ts';

interface KtestOptions extends RunOptions {
  list?: true;
  kernelSource?: string;
}

/** The name of the test that runs, from the runner's lines on the console. */
class RunningTest {
  name = '';
  hasBegun = false;

  readonly line = (text: string): void => {
    const [, begun] = /^# begin (\S+)$/.exec(text) ?? [];
    if (begun !== undefined) {
      this.name = begun;
      this.hasBegun = true;
    } else if (/^(not )?ok \d/.test(text)) this.name = '';
  };
}

/** Statuses of guest-programs/ktest.c that are not those of tests, in words. */
const WITHOUT_TESTS: Readonly<Record<number, (pattern: string) => string>> = {
  2: pattern => `no test is named ${pattern}; kcovbox ktest --list lists them`,
  3: () => 'this kernel has no tests: its configuration lacks ktest',
};

async function ktest(pattern: string | undefined, options: KtestOptions, command: Command): Promise<number> {
  const isGiven = command.getOptionValueSource('dialect') === 'cli';
  const { dialect, conf, words } = chooseKernel(options, isGiven);
  const { cover, list, append } = options;
  const outputs = { ...options, keepLost: true };
  checkOutputs(outputs);
  const folder = join(packageRoot(), 'guest-programs');
  const choice = {
    ...options,
    ...(await deviceChoice(options)),
    dialect,
    conf: conf.split('+').includes('ktest') ? conf : `${conf}+ktest`,
    cflags: [],
    trace: cover !== undefined,
    env: {},
    interactive: false,
  };
  const args = [...(list ? ['-l'] : []), ...(pattern === undefined ? [] : [pattern])];
  const more = [...words, ...(append === undefined ? [] : [append])].join(' ');
  const images = await prepareGuest(join(folder, 'ktest.c'), args, {
    ...choice,
    ...(more === '' ? {} : { append: more }),
  });
  const running = new RunningTest();
  const tests = { line: running.line, name: () => running.name, hasBegun: () => running.hasBegun };
  const { end } = await execute(images, choice, outputs, {
    tests,
    whyEmpty: whyEmpty(options.kcov, 'no test ran'),
  });
  const why = end.outcome === 'exit' ? WITHOUT_TESTS[end.status]?.(visible(pattern ?? '*')) : undefined;
  if (why !== undefined) tell(`kcovbox: ${why}\n`);
  return end.status;
}

export function register(program: Command): void {
  const command = addRobustOptions(addDeviceOptions(addMachineOptions(program.command('ktest'))))
    .description('run the tests inside the kernel, each in a process of its own, and print TAP')
    .argument('[pattern]', 'shell pattern of "suite.test"; the suite is the name of a file (default: all)')
    .option('--list', 'only list the tests')
    .option('--kernel-source <dir>', 'build the kernel from this tree, a copy of kernel/ that you changed');
  addOutputOptions(command, { hasTests: true })
    .addHelpText(
      'after',
      '\nThe exit status is 0 when all tests passed, 1 when one failed, 2 when none has such a name,\n' +
        '3 when the kernel has none, 126 after a panic.\n' +
        'In a coverage file each test has its own records: kcovbox cov filter --test NAME takes them out.\n' +
        'Examples:\n' +
        "  kcovbox ktest 'driver_test.*'\n" +
        '  kcovbox ktest --kasan --lockdep --panic-on-warn --smp 4\n' +
        '  kcovbox ktest --cover tests.html',
    )
    .action(async (pattern: string | undefined, options: KtestOptions, command: Command) => {
      process.exitCode = await ktest(pattern, options, command);
    });
}
