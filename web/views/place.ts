// The place in the address bar: a program of the menu, a moment, a line.

export interface Place {
  readonly program?: string;
  readonly unit?: number;
  readonly file?: string;
  readonly line?: number;
}

/** Anything that is no place is left out: anybody may write the address. */
export function readPlace(hash: string): Place {
  const words = new URLSearchParams(hash.replace(/^#/, ''));
  const number = (name: string): number | undefined => {
    const text = words.get(name) ?? '';
    return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
  };
  const [program, file] = [words.get('program'), words.get('file')];
  const [unit, line] = [number('unit'), number('line')];
  return {
    ...(program !== null && /^[\w-]{1,40}$/.test(program) && { program }),
    ...(unit !== undefined && { unit }),
    ...(file !== null && { file }),
    ...(line !== undefined && { line }),
  };
}

export function writePlace(place: Place): string {
  const words = Object.entries(place).filter(([, value]) => value !== undefined);
  return `#${new URLSearchParams(words.map(([name, value]) => [name, String(value)]))}`;
}
