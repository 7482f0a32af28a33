// The standard normal distribution.

/** |z| of a two-sided interval of 95 %. */
export const Z_95 = 1.959963984540054;

const SPLIT = 2.2;
const TERMS = 400;

/** The complementary error function of x >= 0, to about 13 digits. */
function erfc(x: number): number {
  const scale = Math.exp(-x * x) / Math.sqrt(Math.PI);
  if (x < SPLIT) {
    // erf(x) = 2/sqrt(pi) e^(-x^2) sum 2^n x^(2n+1) / (2n+1)!!: all terms are positive.
    let term = x;
    let sum = x;
    for (let n = 1; term > sum * Number.EPSILON && n < TERMS; n++) {
      term *= (2 * x * x) / (2 * n + 1);
      sum += term;
    }
    return 1 - 2 * scale * sum;
  }
  // The continued fraction 1/(x+ (1/2)/(x+ 1/(x+ (3/2)/(x+ ...)))), from its end.
  let fraction = x;
  for (let n = TERMS; n > 0; n--) fraction = x + n / 2 / fraction;
  return scale / fraction;
}

/** Probability of a value greater than z. */
export const upperTail = (z: number): number =>
  z >= 0 ? erfc(z / Math.SQRT2) / 2 : 1 - erfc(-z / Math.SQRT2) / 2;

/** Probability that chi-square of one degree of freedom is at least x. */
export const chiSquareTail = (x: number): number => (x <= 0 ? 1 : erfc(Math.sqrt(x / 2)));
