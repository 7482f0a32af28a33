// The bundle's pass that puts numeric constants in their places (setup/constants.mjs): a script
// does the same before and after, whatever else has the name of a constant.
import { build, transform } from 'esbuild';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { foldConstants } from '../../setup/constants.mjs';

const fold = (text: string) => foldConstants(text, transform, { format: 'cjs', minifySyntax: true });
/** The value of `result` when the script has run. */
const run = (script: string): unknown => new Function(`${script};return module.exports`)();
const program = (body: string) => `var module = {};${body}`;

test.each([
  ['a literal', 'var A = 5; module.exports = () => A', '5'],
  ['one of several in a list', 'var A = 1, B = Math, C = A + 1; module.exports = () => [B, C]', '2'],
  ['a negative one', 'var A = -(1 << 3); module.exports = () => A', '-8'],
])('%s is in its place', async (_, body, value) => {
  const script = await fold(program(body));
  expect(script).toMatch(new RegExp(`=> ?\\(?\\[?(Math, |B, )?${value}\\b`));
  expect(script).not.toMatch(/\bA\b/);
});

test('constants of modules that esbuild loads on demand are in their places', async () => {
  const modules: Readonly<Record<string, string>> = {
    './main': "module.exports = [import('./a'), () => import('./b')]",
    './a': "import { B } from './b'; export const A = B << 4; export const f = () => A",
    './b': 'export const B = 2; export let last; export const note = () => { last = 3 }',
  };
  const { outputFiles } = await build({
    entryPoints: ['./main'],
    bundle: true,
    write: false,
    format: 'cjs',
    minifySyntax: true,
    supported: { 'dynamic-import': false },
    plugins: [
      {
        name: 'modules',
        setup({ onResolve, onLoad }) {
          onResolve({ filter: /./ }, ({ path }) => ({ path, namespace: 'own' }));
          onLoad({ filter: /./, namespace: 'own' }, ({ path }) => ({ contents: modules[path]! }));
        },
      },
    ],
  });
  const script = await fold(outputFiles[0]!.text);
  expect(script).toMatch(/f = \(\) => 32\b/);
  expect(script).toMatch(/last = 3\b/);
  const [a, b] = run(program(script)) as [Promise<object>, () => Promise<{ last?: number; note(): void }>];
  expect(await a).toMatchObject({ A: 32 });
  const loaded = await b();
  expect(loaded).toMatchObject({ B: 2, last: undefined });
  loaded.note();
  expect(loaded.last).toBe(3);
});

test.each([
  [
    'a name that a function sets later',
    'var A; function f() { A = 2 } var B = A; f(); module.exports = [B, A]',
  ],
  [
    'a name that a module sets on a condition',
    'var A, init = __esm({ "a"() { module.id && (A = 2) } }); function __esm(o) { return o.a } init();' +
      'module.exports = [A]',
  ],
  ['names that differ by a sign', 'var A = 1, $A = 2, $$A = A; module.exports = [A, $A, $$A]'],
  ['names of let and const', 'let A = 1; const B = A + 1; module.exports = [A, B]'],
  ['a name that is set twice', 'var A = 1; function f() { A = 2 } f(); module.exports = A'],
  ['a name that is counted', 'var A = 1; A++; module.exports = A'],
  ['a name that a pattern sets', 'var A = 1; [A] = [7]; module.exports = A'],
  ['a name that an object pattern sets', 'var A = 1; ({ x: A = 3 } = {}); module.exports = A'],
  ['a name that a loop sets', 'var A = 1; for (A of [1, 9]); module.exports = A'],
  ['a parameter of the same name', 'var A = 1; module.exports = (A => A)(4) + A'],
  ['a local of the same name', 'var A; function f() { let A; A = 3; return A } module.exports = [f(), A]'],
  ['a caught error of the same name', 'var A = 1; try { throw 6 } catch (A) { module.exports = A }'],
  ['a class of the same name', 'var A = 1; module.exports = [A, class A { static x = typeof A }.x]'],
  ['a property of the same name', 'var A = 1; var o = { A, B: A }; module.exports = [o.A, o, o?.A]'],
  ['numbers that JSON does not have', 'var A = 1 / 0, B = -0, C = 0 / 0; module.exports = [A, 1 / B, C]'],
  ['the largest number', 'var A = 2 ** 1023 * 1.5, B = 1e-300; module.exports = [A, B]'],
  ['operators of other types', 'var A = "1", B = A + 2, C = 10n, D = !0; module.exports = [A, B, C, D]'],
])('%s keeps its meaning', async (_, body) => {
  expect(run(await fold(program(body)))).toEqual(run(program(body)));
});

describe('random scripts', () => {
  const name = fc.constantFrom('A', 'B', 'C', 'D');
  const operator = fc.constantFrom('+', '-', '*', '<<', '>>>', '|', '^', '%');
  const { expression } = fc.letrec<{ expression: string }>(tie => ({
    expression: fc.oneof(
      { maxDepth: 3 },
      fc.integer({ min: 0, max: 70 }).map(String),
      name,
      fc.tuple(tie('expression'), operator, tie('expression')).map(([a, sign, b]) => `(${a} ${sign} ${b})`),
      fc.tuple(fc.constantFrom('-', '~', '+'), tie('expression')).map(([sign, a]) => `(${sign} ${a})`),
      fc.tuple(name, tie('expression')).map(([parameter, a]) => `((${parameter}) => ${a})(3)`),
    ),
  }));
  const statement = fc.oneof(
    fc.tuple(name, expression).map(([a, e]) => `${a} = ${e};`),
    fc.tuple(name, expression).map(([a, e]) => `{ let ${a} = 1; out.push(${e}, ${a}); }`),
    fc.tuple(name, expression).map(([a, e]) => `(function () { ${a} = ${e}; })();`),
    expression.map(e => `out.push(${e});`),
    name.map(a => `out.push(${a}++);`),
  );

  test('compute the same', async () => {
    const operand = fc.integer({ min: 0, max: 70 });
    const constant = fc.tuple(name, operator, operand, operand, fc.boolean());
    const script = fc.tuple(fc.array(constant, { maxLength: 4 }), fc.array(statement));
    let folded = 0;
    await fc.assert(
      fc.asyncProperty(script, async ([constants, statements]) => {
        // Definitions first, of the one before: who reads a constant before it is defined gets its
        // value instead of undefined.
        const own = new Map<string, string>();
        for (const [a, sign, left, right, hasLast] of constants) {
          const last = hasLast ? [...own.keys()].at(-1) : undefined;
          if (!own.has(a)) own.set(a, `(${last ?? left} ${sign} ${right})`);
        }
        const others = ['A', 'B', 'C', 'D'].filter(a => !own.has(a));
        const declared = [...own].map(([a, e]) => `var ${a} = ${e};`).join('');
        const rest = others.length > 0 ? `var ${others.map(a => `${a} = Math.abs(2)`).join(',')};` : '';
        const text = program(`var out = [];${rest}${declared}${statements.join('')}module.exports = out;`);
        const after = await fold(text);
        if ([...own.keys()].some(a => !after.includes(`var ${a}`))) folded++;
        expect(run(after)).toEqual(run(text));
      }),
      { numRuns: 300 },
    );
    expect(folded).toBeGreaterThan(50);
  });
});
