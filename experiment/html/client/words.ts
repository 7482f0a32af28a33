/** Numbers as the page writes them. */

const UNITS = ['', ' k', ' M', ' G', ' T'] as const;

/** Four digits at most: 12.3 M. */
export function short(value: number): string {
  let unit = 0;
  let rest = value;
  while (Math.abs(rest) >= 10_000 && unit < UNITS.length - 1) {
    rest /= 1000;
    unit++;
  }
  const text = Number.isInteger(rest) ? String(rest) : rest.toFixed(rest < 100 ? 1 : 0);
  return `${text}${UNITS[unit]}`;
}

export const grouped = (value: number): string => value.toLocaleString('en-US');

export const pText = (p: number): string => (p < 0.001 ? '< 0.001' : p.toFixed(3));

/** The usual names of Vargha and Delaney for the size of a difference. */
export function magnitude(a12: number): string {
  const distance = Math.abs(a12 - 0.5);
  if (distance < 0.06) return 'negligible';
  if (distance < 0.14) return 'small';
  return distance < 0.21 ? 'medium' : 'large';
}
