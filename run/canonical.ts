// Canonical JSON: one text for one value, whatever the order in which its keys were written. Its
// hash names a run.

/**
 * `value` with the keys of every object in the order of their code units, and no blanks. Only for
 * plain JSON data.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, entry]) => `${JSON.stringify(key)}:${canonicalJson(entry)}`).join(',')}}`;
}
