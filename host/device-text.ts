// A device of the user's own as an option names it: its file, and the values of its parameters.
import { KcovboxError } from '../emulator/index.ts';

export interface NamedDevice {
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
}

/**
 * `./mydev.ts,depth=8,name=x` as a path and parameters; two commas stand for one, as in QEMU's
 * options. Errors: KcovboxError for a parameter without a value.
 */
export function splitDevice(text: string): NamedDevice {
  const parts = text.replaceAll(',,', '\0').split(',');
  const [path = '', ...rest] = parts.map(part => part.replaceAll('\0', ','));
  const params: Record<string, string> = {};
  for (const part of rest) {
    const at = part.indexOf('=');
    if (at <= 0) throw new KcovboxError('input', `device ${path}: "${part}" is not NAME=VALUE`);
    params[part.slice(0, at)] = part.slice(at + 1);
  }
  return { path, params };
}

/** The text of which `splitDevice` makes the same. */
export function deviceText({ path, params }: NamedDevice): string {
  const words = Object.entries(params).map(([name, value]) => `${name}=${value}`);
  return [path, ...words].map(word => word.replaceAll(',', ',,')).join(',');
}
