// QEMU's `-cpu MODEL[,PROPERTY=on|off]...`: the optional extensions of the harts.

import { HostError } from '../base/errors.ts';
import {
  ALL_EXTENSIONS,
  DEFAULT_EXTENSIONS,
  EXTENSIONS,
  type Extensions,
  isOptional,
  RVA22_EXTENSIONS,
} from '../isa/index.ts';

/** Models of QEMU that this hart supports; docs/isa.md lists the differences from QEMU's. */
const MODELS: Readonly<Record<string, Extensions>> = {
  rv64: DEFAULT_EXTENSIONS,
  rva22s64: RVA22_EXTENSIONS,
  max: ALL_EXTENSIONS,
};
/** Models of QEMU that it does not support, with the reason. */
const FOREIGN: Readonly<Record<string, string>> = {
  rva22u64: 'has no supervisor mode, which every hart here has; use rva22s64',
};
/** Properties of QEMU's CPUs that are not extensions and describe this hart correctly. */
const ALWAYS_ON: ReadonlySet<string> = new Set(['mmu', 'pmp', 'g']);

/** Throws `HostError` for a model, property or value that this hart cannot have. */
export function parseCpu(text: string): Extensions {
  const refuse = (why: string): never => {
    throw new HostError(`-cpu ${text}: ${why}`);
  };
  const [model = '', ...properties] = text.split(',');
  if (Object.hasOwn(FOREIGN, model)) refuse(`${model} ${FOREIGN[model]}`);
  const base = Object.hasOwn(MODELS, model) ? MODELS[model] : undefined;
  if (!base) refuse(`unknown model "${model}"; known are ${Object.keys(MODELS).join(', ')}`);
  const chosen = new Set(base);
  for (const property of properties) {
    const [, given, value] = /^([\w-]+)=(on|off|true|false)$/.exec(property) ?? [];
    if (given === undefined) refuse(`"${property}" must be NAME=on or NAME=off`);
    const name = given!.toLowerCase();
    const isOn = value === 'on' || value === 'true';
    const row = EXTENSIONS.find(r => r.name === name);
    const [switched, there] = row?.presence === 'opposite' ? [row.of!, !isOn] : [name, isOn];
    if (isOptional(switched)) {
      if (there) chosen.add(switched);
      else chosen.delete(switched);
    } else if (row?.presence === 'always' || ALWAYS_ON.has(name)) {
      if (!isOn) refuse(`${name} is always on`);
    } else if (isOn) {
      refuse(row ? `${name} does not exist here: ${row.doc}` : `unknown extension "${name}"`);
    }
  }
  return chosen;
}
