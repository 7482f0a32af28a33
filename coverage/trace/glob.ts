/**
 * Globs over paths. A pattern may come from a stranger, so matching takes time in proportion to the
 * lengths of both, whatever the pattern: all places where a match may stand move along the path
 * together.
 */

/** A place of a glob takes a character, or one of these. */
const ANY = '?';
/** Any number of characters, within a directory or not. */
const STAR = '*';
const DEEP = '**';
/** Whole directories, or none. The place behind it is DIRECTORIES. */
const OPTIONAL = '';
/** Any characters; behind a slash the next place may begin. */
const DIRECTORIES = '/**/';

/**
 * The test for whole paths. `*` and `?` stay within a directory, `**` does not. A glob matches any
 * last part of a path that begins behind a slash.
 */
export function globTest(glob: string): (path: string) => boolean {
  const places = placesOf(glob);
  const known = new Map<string, boolean>();
  return path => {
    let answer = known.get(path);
    if (answer === undefined) known.set(path, (answer = matches(places, path)));
    return answer;
  };
}

function placesOf(glob: string): string[] {
  const places = [OPTIONAL, DIRECTORIES];
  const chars = [...glob];
  for (let i = 0; i < chars.length; i++) {
    if (chars[i] !== '*') places.push(chars[i]!);
    else if (chars[i + 1] !== '*') places.push(STAR);
    else if (chars[++i + 1] === '/') {
      places.push(OPTIONAL, DIRECTORIES);
      i++;
    } else places.push(DEEP);
  }
  return places;
}

function matches(places: readonly string[], path: string): boolean {
  let now = new Uint8Array(places.length + 1);
  let next = new Uint8Array(places.length + 1);
  now[0] = 1;
  skip(places, now);
  for (const c of path) {
    next.fill(0);
    for (let at = 0; at < places.length; at++) if (now[at]) step(places[at]!, at, c, next);
    skip(places, next);
    [now, next] = [next, now];
  }
  return now[places.length] === 1;
}

/** Marks the places behind one that took a character. */
function step(place: string, at: number, c: string, next: Uint8Array): void {
  const isSlash = c === '/';
  if (place === DIRECTORIES) {
    next[at] = 1;
    if (isSlash) next[at + 1] = 1;
  } else if (place === DEEP || (place === STAR && !isSlash)) next[at] = 1;
  else if (place === c || (place === ANY && !isSlash)) next[at + 1] = 1;
}

/** Marks the places that are reached without a character. */
function skip(places: readonly string[], marks: Uint8Array): void {
  for (let at = 0; at < places.length; at++) {
    if (!marks[at]) continue;
    if (places[at] === OPTIONAL) marks[at + 1] = marks[at + 2] = 1;
    else if (places[at] === STAR || places[at] === DEEP) marks[at + 1] = 1;
  }
}
