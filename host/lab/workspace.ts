// A student's folder: the text, the starter, the tests to read, and a file that says which lab it
// is.
import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { refused } from '../../grade/judge/lab.ts';
import { makeFolders, packageRoot } from '../../toolchain/index.ts';
import { readText } from '../input.ts';
import { isOfPackage, type Lab, labText, openLab } from './lab.ts';

const MARK = 'lab.kcovbox';
/** Bytes. */
const MARK_MAX = 1 << 16;
const mark = z.strictObject({
  format: z.literal('kcovbox lab folder'),
  version: z.literal(1),
  lab: z.string(),
});

/** Of the kernel's source: a checkout and an installed package have it in other places. */
export const kernelFolder = (): string => join(packageRoot(), 'kernel');

/** Fills a new or empty folder. */
export function startLab(lab: Lab, folder: string): void {
  const write = (path: string, bytes: Uint8Array | string): void => {
    makeFolders(dirname(join(folder, path)));
    writeFileSync(join(folder, path), bytes);
  };
  write('README.md', labText(lab, kernelFolder()));
  for (const [path, bytes] of [...lab.starter, ...lab.tests]) write(path, bytes);
  // The name finds a lab of the package from everywhere, and others by chance of the folder.
  const name = isOfPackage(lab) ? lab.name : resolve(lab.folder);
  write(MARK, `${JSON.stringify({ format: 'kcovbox lab folder', version: 1, lab: name })}\n`);
}

/** The lab of a student's folder. */
export function labOf(folder: string): Lab {
  const path = join(folder, MARK);
  if (!existsSync(path))
    throw refused(
      `${resolve(folder)} is not the folder of a lab: it has no ${MARK}; kcovbox lab start makes one`,
    );
  let parsed: z.ZodSafeParseResult<z.infer<typeof mark>>;
  try {
    parsed = mark.safeParse(JSON.parse(readText(path, 'lab', MARK_MAX)));
  } catch {
    throw refused(`${path} is damaged; kcovbox lab start makes another folder`);
  }
  if (!parsed.success) throw refused(`${path} is damaged; kcovbox lab start makes another folder`);
  return openLab(parsed.data.lab);
}
