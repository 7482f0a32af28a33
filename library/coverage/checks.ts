// The check of arguments, as all functions of kcovbox/coverage call it.
import { type Argument, checkArguments } from '../../emulator/base/arguments.ts';

/** @internal */
export const check = (where: string, ...args: readonly Argument[]): void =>
  checkArguments('coverage', where, args);
