// Devices of the user's own that options name.
import type { LoadedDevice } from '../../host/device.ts';
import { UserError } from '../io/fail.ts';

/**
 * `FILE[,NAME=VALUE]...` each; the loader runs only where there are any. Errors: UserError if two
 * have one name; as `loadDevice`.
 */
export async function loadDevices(texts: readonly string[] = []): Promise<LoadedDevice[]> {
  if (texts.length === 0) return [];
  const { loadDevice } = await import('../../host/device.ts');
  const devices = texts.map(loadDevice);
  const names = devices.map(({ definition }) => definition.name);
  for (const [i, name] of names.entries())
    if (names.indexOf(name) < i)
      throw new UserError(`--device ${texts[i]}: another device is named ${name}; give it a name of its own`);
  return devices;
}
