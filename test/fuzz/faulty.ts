// A target whose devices fail: the sensor of examples/sensor with a good driver, and edu.
import { join } from 'node:path';
import { expect } from 'vitest';
import { parseFaultChoice } from '../../emulator/index.ts';
import {
  Choice,
  changeFaults,
  Executor,
  Generator,
  type Program,
  parseProgram,
  Random,
} from '../../fuzz/index.ts';
import { loadDevice } from '../../host/device.ts';
import { descriptionTexts, loadDescriptions } from '../../host/fuzz/descriptions.ts';
import { prepareTarget } from '../../host/fuzz/target.ts';
import { ROOT } from '../support/command.ts';
import { seedFromEnvironment, seedText } from '../support/random.ts';
import { executionsAgree } from './agree.ts';

const example = (...path: string[]): string => join(ROOT, 'examples', ...path);
const descriptions = loadDescriptions(
  descriptionTexts([example('fuzz', 'edu.kd'), example('fuzz', 'thermo.kd')]),
);
const CALLS = ['*$edu', '*$thermo', 'ioctl$factorial', 'ioctl$id', 'dup', 'close', 'read', 'nanosleep'];

const open = 'r0 = openat$thermo(0xffffff9c, &"/dev/thermo\\x00", 0x0, 0x0)\n';

interface Faulty {
  readonly compiled: Executor;
  readonly interpreted: Executor;
  /** Boots for each program. */
  readonly booted: Executor;
  /** OPEN: opens the sensor. */
  readonly program: (text: string) => Program;
}

let made: Promise<Faulty> | undefined;

async function make(): Promise<Faulty> {
  const { machine } = await prepareTarget({
    conf: 'linux+kasan',
    devices: [loadDevice(example('sensor', 'thermo.ts'))],
    drivers: [example('sensor', 'thermo.c')],
    faultable: ['edu', 'thermo'],
  });
  return {
    compiled: new Executor({ machine: { ...machine, engine: 'jit' } }),
    interpreted: new Executor({ machine: { ...machine, engine: 'interp' } }),
    booted: new Executor({ machine: { ...machine, engine: 'jit' }, reset: 'boot' }),
    program: text => parseProgram(text.replace('OPEN', open), descriptions),
  };
}

export const faulty = (): Promise<Faulty> => (made ??= make());

/** Random programs with random faults, executed twice and on both engines. */
export async function faultsAgree(
  { compiled, interpreted }: Faulty,
  programs: number,
  usual: number,
): Promise<void> {
  const seed = seedFromEnvironment(usual);
  const random = new Random(BigInt(seed));
  const generator = new Generator(random, new Choice(descriptions, CALLS), []);
  const choices = ['edu', 'thermo'].map(parseFaultChoice);
  const next = (): Program => {
    const program = generator.program();
    for (let faults = 0; faults < 3; faults++) changeFaults(program, choices, random);
    return program;
  };
  const { faults } = executionsAgree(compiled, interpreted, next, { programs, seed });
  expect(faults, `seed ${seedText(seed)}`).toBeGreaterThan(programs / 10);
}
