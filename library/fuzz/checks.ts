// The check of arguments, as all functions of kcovbox/fuzz call it.
import { type Argument, aString, checkArguments, is, shapeOf } from '../../emulator/base/arguments.ts';

/** @internal */
export const check = (where: string, ...args: readonly Argument[]): void =>
  checkArguments('input', where, args);

/** @internal */
export const A_FILE = shapeOf<{ name: string; text: string }>({ name: aString, text: aString });

/** Of a list. @internal */
export const aFilledList = is('at least one', value => (value as readonly unknown[]).length > 0);
