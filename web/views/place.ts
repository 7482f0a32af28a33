// The place in the address bar: a program of the menu or a whole run, a moment, a line.

export interface Place {
  readonly program?: string | undefined;
  /** A capsule; web/engine/address.ts reads it. */
  readonly run?: string | undefined;
  readonly unit?: number | undefined;
  readonly file?: string | undefined;
  readonly line?: number | undefined;
  /** The datum that is followed, and the moment at which it has this name. */
  readonly datum?: string | undefined;
  readonly named?: number | undefined;
  /** In a frame of <kcovbox-run>; '1': it is. */
  readonly embed?: '1' | undefined;
  /** A capsule comes from the page around the frame. */
  readonly wait?: '1' | undefined;
}

/** A datum by the name that it had at a moment. */
export interface Followed {
  readonly what: string;
  readonly unit: number;
  readonly hart: number;
  readonly level: number;
}

/** Letters of a datum. */
export const DATUM_MAX = 200;
/** Letters of the name of a file. */
const FILE_MAX = 1000;

/** Anything that is no place is left out: anybody may write the address. */
export function readPlace(hash: string): Place {
  const words = new URLSearchParams(hash.replace(/^#/, ''));
  const number = (name: string): number | undefined => {
    const text = words.get(name) ?? '';
    return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
  };
  const program = words.get('program') ?? '';
  const file = words.get('file') ?? '';
  return {
    run: words.get('run') ?? undefined,
    program: /^[\w-]{1,40}$/.test(program) ? program : undefined,
    unit: number('unit'),
    file: file !== '' && file.length <= FILE_MAX ? file : undefined,
    line: number('line'),
    datum: words.get('datum')?.slice(0, DATUM_MAX) || undefined,
    named: number('named'),
    embed: words.get('embed') === '1' ? '1' : undefined,
    wait: words.get('wait') === '1' ? '1' : undefined,
  };
}

export function writePlace(place: Place): string {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(place)) if (value !== undefined) words.set(name, `${value}`);
  return words.size === 0 ? '' : `#${words}`;
}
