// The extensions of the harts in a run description.
//
// The problem: an extension that every hart had can be switched off in a later version of kcovbox,
// and no older description lists it. So such an extension is named where it is absent, in
// `without`, and every description means what it meant.
import { ALL_EXTENSIONS, type Extensions, type OptionalExtension } from '../emulator/index.ts';

/** Extensions that every hart had when the format began. */
export const HAD_BY_ALL = ['zihpm'] as const satisfies readonly OptionalExtension[];

const wereThere: ReadonlySet<OptionalExtension> = new Set(HAD_BY_ALL);

/** Extensions that a description lists where they are present. */
export const LISTED = [...ALL_EXTENSIONS].filter(name => !wereThere.has(name));

/** Both fields of a description, sorted; `without` is absent if it were empty. */
export interface DescribedExtensions {
  extensions: OptionalExtension[];
  without?: (typeof HAD_BY_ALL)[number][] | undefined;
}

export function describeExtensions(chosen: Extensions): DescribedExtensions {
  const extensions = LISTED.filter(name => chosen.has(name)).sort();
  const without = HAD_BY_ALL.filter(name => !chosen.has(name)).sort();
  return without.length > 0 ? { extensions, without } : { extensions };
}

export function extensionsOf({ extensions, without = [] }: DescribedExtensions): Extensions {
  const absent: ReadonlySet<OptionalExtension> = new Set(without);
  return new Set([...extensions, ...HAD_BY_ALL.filter(name => !absent.has(name))]);
}
