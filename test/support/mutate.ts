// Mutations of a JSON value for searches over files that anybody may have made: seeded, small, and
// mostly valid, so that they reach behind the first check.
import type { Random } from './random.ts';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

const NUMBERS = [0, -1, 0.5, 1e9, 2 ** 31, 2 ** 53, -(2 ** 53), 1e300, 255, 256, 1e-7];
const STRINGS = [
  '',
  'zz',
  '0x',
  '0xzz',
  '../../x',
  '/etc/passwd',
  '-o',
  '__proto__',
  '\u0000',
  '\u001b[2J',
  '\ud800',
  'x'.repeat(5000),
];
const NAMES = [
  'cover',
  'result',
  'record',
  'output',
  'options',
  'cflags',
  'program',
  'kernel',
  'path',
  '__proto__',
  'constructor',
  'toString',
];

function other(random: Random): Json {
  const choices: Json[] = [null, true, random.pick(NUMBERS), random.pick(STRINGS), [], {}, [[]], { at: 0 }];
  return random.pick(choices);
}

/** Places of a value: the object or array and the key in it. */
function places(value: Json, found: [Json[] | { [key: string]: Json }, string][] = []): typeof found {
  if (typeof value !== 'object' || value === null) return found;
  for (const key of Object.keys(value)) {
    found.push([value, key]);
    places((value as { [key: string]: Json })[key]!, found);
  }
  return found;
}

/** A changed copy: one to three places replaced, removed, doubled, nudged or added to. */
export function mutateJson(value: unknown, random: Random): Json {
  const copy = structuredClone(value) as Json;
  for (let n = 1 + random.below(3); n > 0; n--) {
    const all = places(copy);
    if (all.length === 0) return other(random);
    const [parent, key] = random.pick(all);
    const holder = parent as { [key: string]: Json };
    const now = holder[key]!;
    switch (random.below(6)) {
      case 0:
        holder[key] = other(random);
        break;
      case 1:
        if (Array.isArray(parent)) parent.splice(Number(key), 1);
        else delete holder[key];
        break;
      case 2:
        // An array with a field `constructor` is no JSON, and breaks its own methods.
        if (Array.isArray(parent)) {
          parent.push(other(random));
          break;
        }
        Object.defineProperty(holder, random.pick(NAMES), {
          value: other(random),
          enumerable: true,
          configurable: true,
          writable: true,
        });
        break;
      case 3:
        holder[key] = [now, now];
        break;
      case 4:
        if (typeof now === 'number') holder[key] = now + random.pick([1, -1, 0.5, 1e6]);
        else if (typeof now === 'string') holder[key] = now.slice(0, random.below(now.length + 1));
        else holder[key] = JSON.stringify(now);
        break;
      default:
        if (Array.isArray(now)) now.push(...(structuredClone(now) as Json[]));
        else holder[key] = other(random);
    }
  }
  return copy;
}
