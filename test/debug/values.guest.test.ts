// Values that are wider than a register, of several words, of parts of a word, or not mapped yet.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ASSEMBLER } from '../support/asm.ts';
import { kcovbox } from '../support/command.ts';
import { missing } from '../support/tools.ts';

const PROGRAM = `enum sign { UP = 1, DOWN = -3 };
struct fields { unsigned left : 3; int middle : 5; unsigned right : 8; };
static int big[100000], sum;
static double matrix[2000][2];
int main(void) {
    __int128 wide = -((__int128)1 << 100);
    unsigned __int128 most = ~(unsigned __int128)0;
    long double quad = 3.25L, tiny = -1e-4000L, huge = 1e4000L;
    double _Complex complex = 3.0 + 4.0i;
    enum sign sign = DOWN;
    struct fields fields = {0};
    fields.middle = -7;
    fields.right = 200;
    fields.left = 5;
    big[99999] = 9;
    sum = 1; /* here */
    matrix[1999][1] = (double)(quad + tiny + huge) + (double)wide + (double)most + sign;
    return __real__ complex != 3.0;
}
`;
const HERE = PROGRAM.split('\n').findIndex(line => line.includes('here')) + 1;

describe.skipIf(missing('clang and lld', ASSEMBLER))('kcovbox debug', () => {
  const dir = mkdtempSync(join(tmpdir(), 'kcovbox-values-'));
  afterAll(() => rmSync(dir, { recursive: true, force: true }));
  beforeAll(() => {
    writeFileSync(join(dir, 'values.c'), PROGRAM);
    const ran = kcovbox(['run', '--cflags=-O0', '--record', 'v.kcapsule', 'values.c'], { cwd: dir });
    if (ran.status !== 0) throw new Error(`status ${ran.status}: ${ran.stderr}`);
  });
  /** At the line that is marked. */
  const answers = (...commands: string[]): string[] => {
    const all = [`break values.c:${HERE}`, 'continue', ...commands];
    const words = ['debug', 'v.kcapsule', ...all.flatMap(command => ['-x', command])];
    const { stdout } = kcovbox(words, { cwd: dir });
    return stdout.split(/^\(kcovbox\) .*\n/m).slice(3);
  };
  const values = (...names: string[]): string[] =>
    answers(...names.map(name => `print ${name}`)).map(text => text.trimEnd());

  test('numbers of 16 bytes', () => {
    expect(values('wide', 'most', 'quad', 'tiny', 'huge', 'complex')).toEqual([
      'wide = -1267650600228229401496703205376',
      'most = 340282366920938463463374607431768211455',
      'quad = 3.25',
      'tiny = -0',
      'huge = Infinity',
      'complex = 3 + 4i',
    ]);
    expect(values('wide + 1')).toEqual(['wide + 1 = -1267650600228229401496703205375']);
    expect(values('quad * 2', 'complex + 1')).toEqual(
      ['long double', 'complex'].map(
        type => `numbers of type ${type} are not supported here: print them alone`,
      ),
    );
  });

  test('an enumeration with negative names has a sign', () => {
    expect(values('sign', 'sign < 0', 'sign + 1')).toEqual(['sign = DOWN', 'sign < 0 = 1', 'sign + 1 = -2']);
  });

  test('an array of which a part is mapped', () => {
    expect(values('big[99999]', 'big[50000]')).toEqual([
      'big[99999] = 9',
      expect.stringMatching(/^nothing is mapped at 0x/),
    ]);
    expect(values('matrix[1000]', 'matrix[1000][1]')).toEqual(
      Array(2).fill(expect.stringMatching(/^nothing is mapped at 0x/)),
    );
  });

  test('a watch of a bit field stops for its own bits', () => {
    const [, , first = '', second = ''] = answers('delete', 'watch fields.middle', 'back', 'back');
    expect(first).toContain('  before: 0\n  after:  -7\n');
    expect(first).toContain(`values.c:${HERE - 4}`);
    expect(second).not.toContain('after:  -7');
    expect(values('&fields.middle')).toEqual(['a bit field has no address']);
  });
});
