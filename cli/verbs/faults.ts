// `kcovbox faults`: the faults that any device can have: a list, all of them on a driver, and
// devices that draw them by themselves.
import type { Command } from 'commander';
import { FAULT_KINDS, type FaultKind } from '../../emulator/index.ts';
import { FAULT_MEANINGS } from '../../run/faults/meanings.ts';
import { addHostile } from '../faults/hostile.ts';
import { addSweep } from '../faults/sweep.ts';
import { writeTo } from '../io/output.ts';
import { addRobustOptions } from '../run/robust.ts';
import { addDeviceOptions, addMachineOptions, addProgramOptions } from './run.ts';

function kindList(): string {
  return (Object.keys(FAULT_KINDS) as FaultKind[])
    .map(kind => {
      const event = `n-th ${FAULT_KINDS[kind].event}`;
      return `${kind.padEnd(16)}${event.padEnd(18)}${FAULT_MEANINGS[kind]}\n`;
    })
    .join('');
}

/** The options of `run` for a program, its devices and its kernel. */
const withOptions = (command: Command): Command =>
  addProgramOptions(addRobustOptions(addDeviceOptions(addMachineOptions(command), { faults: false })));

export function register(program: Command): void {
  const faults = program
    .command('faults')
    .description('test a driver with a device that fails: list the faults, or run a program with each')
    .addHelpText(
      'after',
      '\nExamples:\n  kcovbox faults ls\n  kcovbox faults sweep --device mydev.ts --driver mydev.c use.c',
    );
  faults
    .command('ls')
    .description('list the kinds of fault that any device can have')
    .addHelpText('after', '\nExample:\n  kcovbox run --fault edu:irq-drop@2 examples/factorial.c -- 6')
    .action(() => writeTo('-', kindList()));
  addSweep(withOptions(faults.command('sweep')));
  addHostile(withOptions(faults.command('hostile')));
}
