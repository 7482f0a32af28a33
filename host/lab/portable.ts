// The labs of the package as data for the page (web/labs/): those that need no device of the
// student's, which would run outside of the guest.
import { KcovboxError } from '../../emulator/index.ts';
import { bytesOf, textOf } from '../../grade/judge/lab.ts';
import { isPortable, type PortableLab, sourcesOf, type Texts } from '../../grade/judge/portable.ts';
import { packageVersion } from '../capsule.ts';
import { type Lab, labNames, labText, openLab } from './lab.ts';
import { workshop } from './workshop.ts';

/** Errors: one line, for a file that is no UTF-8: its hash would be another. */
function textsOf(files: ReadonlyMap<string, Uint8Array>): Texts {
  const texts = [...files].map(([path, bytes]) => [path, textOf(bytes)] as const);
  const other = texts.find(([path, text]) => Buffer.compare(bytesOf(text), files.get(path)!) !== 0);
  if (other) throw new KcovboxError('input', `${other[0]} is no text in UTF-8`);
  return Object.fromEntries(texts);
}

function portable({ folder, starter, tests, ...lab }: Lab): PortableLab {
  const { source, folder: namesIn } = workshop(() => {});
  const known = sourcesOf(lab.manifest).flatMap(path => {
    const text = source(path); // a place may be in a file of the student's
    return text === undefined ? [] : [[path, text]];
  });
  return {
    ...lab,
    text: labText({ folder }, 'kernel'),
    starter: textsOf(starter),
    tests: textsOf(tests),
    sources: Object.fromEntries(known),
    folders: Object.fromEntries((lab.manifest.empty ?? []).map(path => [path, namesIn(path)])),
  };
}

/** `labs.packed` of the page, before it is packed. */
export const labsForPage = (): { kcovbox: string; labs: PortableLab[] } => ({
  kcovbox: packageVersion(),
  labs: labNames()
    .map(openLab)
    .filter(({ manifest }) => isPortable(manifest))
    .map(portable),
});
