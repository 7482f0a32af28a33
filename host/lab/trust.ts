// Code of the host that comes with a lab: a device of the board, and the commands of its text.
import { join } from 'node:path';
import { isPortable } from '../../grade/judge/portable.ts';
import { needTrust } from '../trust.ts';
import { isOfPackage, type Lab } from './lab.ts';

/** Where checks of a lab run a device. Errors: KcovboxError, unless the lab is of the package. */
export function checkDevices(lab: Lab): void {
  const { files, checks } = lab.manifest;
  if (isOfPackage(lab) || isPortable(lab.manifest)) return;
  const handedIn = files.flatMap(({ name, device }) => (device ? [name] : []));
  const named = checks.flatMap(check => ('devices' in check ? (check.devices ?? []) : []));
  needTrust(`device ${[...handedIn, ...named][0]} of the lab ${lab.folder} is code that runs`);
}

/** Where `lab check` runs commands. Errors: KcovboxError, unless the lab is of the package. */
export function checkCommands(lab: Lab): void {
  if (!isOfPackage(lab)) needTrust(`${join(lab.folder, 'text.md')} has commands, which run`);
}
