// Tests whether this host's WebAssembly fuses multiplication and addition. `relaxed_madd` (relaxed
// SIMD proposal) may round once or twice; the proposal lets a host choose, but the choice is fixed.
// So a test module tries it, and fused operations use it only if it rounds once. The choice changes
// speed, never a result: the alternative is exact, too (engine/semantics/fma.ts).

import { F64, ModuleBuilder } from './module.ts';

let known: boolean | undefined;

/** True when `f64x2.relaxed_madd` and `f32x4.relaxed_madd` exist and round once. */
export function hostFuses(): boolean {
  known ??= tryFused();
  return known;
}

function tryFused(): boolean {
  const m = new ModuleBuilder();
  const double = m.func([F64, F64, F64], [F64]);
  for (const param of double.params) double.code.local_get(param).f64x2_splat();
  double.code.f64x2_relaxed_madd().f64x2_extract_lane(0);
  const single = m.func([F64, F64, F64], [F64]);
  for (const param of single.params) single.code.local_get(param).f32_demote_f64().f32x4_splat();
  single.code.f32x4_relaxed_madd().f32x4_extract_lane(0).f64_promote_f32();
  m.export('double', 'func', double.index);
  m.export('single', 'func', single.index);
  const bytes = m.finish();
  if (!WebAssembly.validate(bytes)) return false;
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes));
  return isFused(exports['double'], 30) && isFused(exports['single'], 13);
}

/** (1 + 2^-n)^2 - (1 + 2^(1-n)) is 2^-2n, which is lost when the product is rounded. */
function isFused(f: (a: number, b: number, c: number) => number, n: number): boolean {
  const a = 1 + 2 ** -n;
  return f(a, a, -1 - 2 ** (1 - n)) === 2 ** (-2 * n);
}
