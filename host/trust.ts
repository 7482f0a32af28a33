// Code of the host that no option names: it comes with a folder or a file, which a stranger may
// have made, and runs only with the user's word.
import { KcovboxError } from '../emulator/index.ts';

/** Errors: KcovboxError of `what` runs, unless the user trusts such code. */
export function needTrust(what: string): void {
  if (process.env['KCOVBOX_TRUST'] === '1') return;
  throw new KcovboxError('input', `${what} with your rights: set KCOVBOX_TRUST=1 if you trust it`);
}

/**
 * Of files of devices. A device's realm (host/device.ts) lacks what would make two runs differ, but
 * it is no wall. Errors: KcovboxError with the first one.
 */
export function checkTrust([path]: readonly string[]): void {
  if (path !== undefined) needTrust(`device ${path} is code that runs`);
}

/**
 * Of the sources of xv6 in `path`, which are built by their own Makefile. Errors: KcovboxError.
 */
export const checkMakefile = (path: string): void => needTrust(`the Makefile of ${path} is code that runs`);

/** Options of clang that start no program, load no plug-in and write no file. */
const HARMLESS = [
  /^-O[0-3gsz]?$/,
  /^-g\d?$/,
  /^-[DUI][^\0]*$/,
  /^-std=[\w+]+$/,
  /^-W[\w=+-]*$/, // no comma: -Wl,OPTION is the linker's
  /^-f(?:no-[\w=-]+|sanitize(?:-\w+)*=[\w,-]+|wrapv|unroll-loops|inline-functions|stack-protector(?:-\w+)?)$/,
  /^-m(?:arch|abi|tune|cmodel)=[\w.-]+$/,
];

/** Of options of the compiler. Errors: KcovboxError with the first one that is not harmless. */
export function checkFlags(flags: readonly string[] = []): void {
  const strange = flags.find(flag => !HARMLESS.some(pattern => pattern.test(flag)));
  if (strange !== undefined) needTrust(`${strange} may run programs or write files`);
}
