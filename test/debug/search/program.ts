// Random C programs for debuggers: variables of all kinds in nested blocks, in functions that call
// each other, that are inlined or call themselves, with system calls in between.
import type { Random } from '../../support/random.ts';

const SCALARS = [
  'char',
  'signed char',
  'unsigned char',
  'short',
  'unsigned short',
  'int',
  'unsigned',
  'long',
  'unsigned long',
  '_Bool',
  'float',
  'double',
  'enum colour',
] as const;

const HEAD = `#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
enum colour { RED, GREEN = 5, BLUE = -3 };
typedef unsigned long word;
union both { int whole; unsigned char part[4]; };
struct small { int a; short b; };
struct bits { unsigned low : 3; int middle : 7; unsigned long high : 40; _Bool flag : 1; };
struct node { struct node *next; word key; struct small inner; char text[8];
  union both u; struct { short hidden; enum colour tint; }; float ratio; struct bits bits; };
static struct node global_node = { .key = 77, .text = "global" };
int global_table[3][2] = { { 1, 2 }, { 3, 4 }, { 5, 6 } };
static double global_sum = 0.5;
volatile long sink;
`;

/** The text of a program; \`size\`: functions and statements, 1 is the least. */
export function randomProgram(random: Random, size: number): string {
  const functions = Array.from({ length: 1 + size }, (_, i) => new Maker(random, size).function(i));
  const calls = functions.map(
    (_, i) => `    result += f${i}(round + ${i}, &nodes[round % 3], nodes[${i % 3}].inner, 3);`,
  );
  return `${HEAD}${functions.join('')}
int main(int argc, char **argv) {
  struct node nodes[3];
  long result = argc;
  const char *title = argv[0] ? "with a \\"name\\"" : NULL;
  memset(nodes, 0, sizeof nodes);
  for (int i = 0; i < 3; i++) {
    nodes[i].next = &nodes[(i + 1) % 3];
    nodes[i].key = i * 1000003ul;
    nodes[i].inner.a = -i;
    nodes[i].bits.middle = i - 2;
    nodes[i].bits.high = i * 12345678901ul;
    nodes[i].tint = i == 1 ? BLUE : GREEN;
    strcpy(nodes[i].text, i == 2 ? "a\\tb" : "text");
  }
  for (int round = 0; round < 4; round++) {
${calls.join('\n')}
    if (title) sink = getppid();
  }
  printf("%ld %f\\n", result, global_sum);
  return 0;
}
`;
}

class Maker {
  readonly #random: Random;
  readonly #size: number;
  #names = 0;
  #budget: number;

  constructor(random: Random, size: number) {
    this.#random = random;
    this.#size = size;
    this.#budget = 4 * size;
  }

  function(i: number): string {
    const random = this.#random;
    const kind = random.pick(['static', 'static inline', '__attribute__((noinline)) static', '']);
    const extra = random.pick(SCALARS);
    this.#calls = i;
    return `${kind} long f${i}(int n, struct node *at, struct small given, unsigned depth) {
  ${extra} first = (${extra})(n * 3);
  long acc = given.a + (long)first;
${this.#block(2, ['n', 'acc'])}
  if (depth > 0 && n % 2) acc += f${i}(n + 1, at->next, at->inner, depth - 1);
  return acc ^ at->key;
}
`;
  }

  #calls = 0;

  #block(level: number, known: readonly string[]): string {
    const lines: string[] = [];
    const names = [...known];
    /** Those of this block; others may be hidden by a new one. */
    const block = new Set<string>();
    const pad = '  '.repeat(level - 1);
    for (let i = 1 + this.#random.below(2 + this.#size); i > 0 && this.#budget-- > 0; i--)
      lines.push(...this.#statement(level, names, block).map(line => `${pad}${line}`));
    return lines.join('\n');
  }

  #value(names: readonly string[]): string {
    const { below, pick } = {
      below: (n: number) => this.#random.below(n),
      pick: () => this.#random.pick(names),
    };
    switch (below(5)) {
      case 0:
        return String(below(200) - 50);
      case 1:
        return `(${pick()} + ${below(9)})`;
      case 2:
        return `((long)${pick()} ^ (long)${pick()})`;
      case 3:
        return `(long)at->inner.b`;
      default:
        return pick();
    }
  }

  #statement(level: number, names: string[], block: Set<string>): string[] {
    const random = this.#random;
    const name = random.oneIn(6) ? 'same' : `v${this.#names++}`;
    const value = this.#value(names);
    const isNew = !block.has(name);
    const form = random.below(isNew ? 14 : 7);
    if (form > 6) block.add(name);
    switch (form) {
      case 0:
        return [`acc += ${value};`];
      case 1:
        return [`at->inner.a += (int)${value};`, `global_node.key ^= (word)${value};`];
      case 2:
        return this.#calls > 0
          ? [`acc += f${random.below(this.#calls)}((int)${value} & 7, at, at->inner, depth / 2);`]
          : [`global_sum += ${value};`];
      case 3:
        return [random.pick(['sink = getpid();', 'close(99);', 'usleep(1);', 'write(-1, at->text, 3);'])];
      case 4:
        if (level > 5) return [`acc--;`];
        return [`if (${value} > ${random.below(40)}) {`, this.#inner(level, names), `} else sink = acc;`];
      case 5: {
        if (level > 5) return [`acc++;`];
        const counter = `i${this.#names++}`;
        return [
          `for (int ${counter} = 0; ${counter} < ${1 + random.below(4)}; ${counter}++) {`,
          this.#inner(level, [...names, counter]),
          '}',
        ];
      }
      case 6:
        return [`sink = (long)${value};`];
      case 7:
        return [
          `struct node ${name} = *at;`,
          `${name}.bits.low = (unsigned)${value};`,
          `sink = ${name}.bits.low;`,
        ];
      case 8:
        return [
          `${random.pick(['int', 'short', 'word'])} ${name}[${1 + random.below(5)}] = { ${random.below(99)} };`,
          `${name}[0] += (int)${value};`,
          `sink = ${name}[0];`,
        ];
      case 9:
        return [
          `struct small *${name} = ${random.pick(['&given', '&at->inner', 'NULL'])};`,
          `acc += ${name} != 0;`,
        ];
      case 10:
        return [
          `const char *${name} = ${random.pick(['at->text', '"constant"', 'global_node.text'])};`,
          `acc += ${name}[1];`,
        ];
      case 11:
        return [`static int ${name} = ${random.below(50)};`, `${name}++;`, `acc += ${name};`];
      default: {
        const type = random.pick(SCALARS);
        names.push(name);
        return [
          `${type} ${name} = (${type})${value};`,
          ...(random.oneIn(3) ? [`acc += (long)${name};`] : []),
        ];
      }
    }
  }

  #inner(level: number, names: readonly string[]): string {
    return this.#block(level + 1, names);
  }
}
