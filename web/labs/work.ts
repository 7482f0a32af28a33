// The student's files of a lab, which the browser keeps until the starter is wanted again.
import type { PortableLab, Texts } from '../../grade/judge/portable.ts';

const nameOf = ({ name }: PortableLab): string => `kcovbox-lab-${name}`;

/** As they were left; else the starter. */
export function keptWork(lab: PortableLab): Texts {
  try {
    const kept = JSON.parse(localStorage.getItem(nameOf(lab)) ?? '{}') as Record<string, unknown>;
    const own = Object.entries(kept).filter(
      ([name, text]) => name in lab.starter && typeof text === 'string',
    );
    return { ...lab.starter, ...(Object.fromEntries(own) as Texts) };
  } catch {
    return lab.starter;
  }
}

export function keepWork(lab: PortableLab, files: Texts): void {
  try {
    localStorage.setItem(nameOf(lab), JSON.stringify(files));
  } catch {} // not allowed here
}
