// What the functions of kcovbox/coverage share in the checks of their arguments.
import { type Argument, checkArguments } from '../../emulator/base/arguments.ts';

/** @internal */
export const check = (where: string, ...args: readonly Argument[]): void =>
  checkArguments('coverage', where, args);
