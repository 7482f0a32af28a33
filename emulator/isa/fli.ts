// The constants of fli (Unpriv, "Zfa"): value and spelling by the number in the rs1 field.

/**
 * Bits of a double that is exact in single precision, as a single: its sign, its exponent with the
 * other bias.
 */
function singleBits(value: number): bigint {
  const view = new DataView(new ArrayBuffer(4));
  view.setFloat32(0, value);
  return BigInt(view.getUint32(0));
}

function doubleBits(value: number): bigint {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  return view.getBigUint64(0);
}

/**
 * In the order of the encoding; `min` is the least normal number of the format, `nan` its canonical
 * NaN.
 */
export const FLI_TEXTS: readonly string[] = (
  '-1.0 min 1.52587890625e-05 3.0517578125e-05 0.00390625 0.0078125 0.0625 0.125 0.25 0.3125 0.375 0.4375 0.5 0.625 ' +
  '0.75 0.875 1.0 1.25 1.5 1.75 2.0 2.5 3.0 4.0 8.0 16.0 128.0 256.0 32768.0 65536.0 inf nan'
).split(' ');

function bits(
  text: string,
  special: Readonly<Record<string, bigint>>,
  of: (value: number) => bigint,
): bigint {
  return special[text] ?? of(Number(text));
}

const SINGLE = { min: 0x0080_0000n, inf: 0x7f80_0000n, nan: 0x7fc0_0000n };
const DOUBLE = { min: 1n << 52n, inf: 0x7ffn << 52n, nan: 0x7ff8n << 48n };

/** The bits of each constant, by format. */
export const FLI_BITS: Readonly<Record<'s' | 'd', readonly bigint[]>> = {
  s: FLI_TEXTS.map(text => bits(text, SINGLE, singleBits)),
  d: FLI_TEXTS.map(text => bits(text, DOUBLE, doubleBits)),
};
