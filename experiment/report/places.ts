// The source places of a kernel's points, in which coverages of different kernels can be compared.
import { addrOf, Elf, Program } from '../../coverage/index.ts';

export interface Place {
  /** The function of the source, also where it is inlined: `kernel/fs/iter.c:iter_user`. */
  readonly functionKey: string;
  readonly name: string;
  /** `kernel/fs/iter.c:9`. */
  readonly line: string;
}

/** Of the key of a function: its name alone. */
export const nameOf = (functionKey: string): string => functionKey.slice(functionKey.lastIndexOf(':') + 1);

export class Places {
  readonly #program: Program;
  readonly #known = new Map<string, Place>();
  /** Points of each function, by its key. */
  readonly functionPoints = new Map<string, number>();
  readonly lines: number;

  constructor(kernel: Uint8Array, name: string) {
    this.#program = new Program(new Elf(kernel, name), { hooks: 'pc' });
    const lines = new Set<string>();
    for (let point = 0; point < this.#program.count; point++) {
      const place = this.#placeOf(point);
      lines.add(place.line);
      this.functionPoints.set(place.functionKey, (this.functionPoints.get(place.functionKey) ?? 0) + 1);
    }
    this.lines = lines.size;
  }

  get points(): number {
    return this.#program.count;
  }

  get functions(): number {
    return this.functionPoints.size;
  }

  /** Names of the functions with points, without their files. */
  *functionNames(): Generator<string> {
    for (const key of this.functionPoints.keys()) yield nameOf(key);
  }

  #placeOf(point: number): Place {
    const [frame] = this.#program.frames(point);
    const { function: name = '?', file = '?', line = 0 } = frame ?? {};
    return { name, functionKey: `${file}:${name}`, line: `${file}:${line}` };
  }

  /** Of a return address in hexadecimal. Errors: CoverageError if no hook call returns there. */
  at(ret: string): Place {
    let place = this.#known.get(ret);
    if (place) return place;
    const addr = addrOf(BigInt(ret));
    const point = this.#program.pointAt(addr);
    place =
      point >= 0
        ? this.#placeOf(point)
        : { name: '?', functionKey: '?', line: this.#program.sites.explainMissing(addr) };
    this.#known.set(ret, place);
    return place;
  }
}
