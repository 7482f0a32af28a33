/** The JSON of a trace file may be hostile: it is measured before it is parsed. */

/** Bytes of a block of JSON. A list of sources that `writeTrace` makes has at most 40 MiB. */
const JSON_MAX = 1 << 26;
/** Lists and objects within each other, and values: more than any trace has, few for memory. */
const JSON_DEPTH = 8;
const JSON_VALUES = 1 << 23;

/**
 * The reason not to parse the JSON in `bytes`: a parser may take a hundred times their number of
 * memory. Undefined: none. Text that is no JSON is left to the parser.
 */
export function excessOf(bytes: Uint8Array): string | undefined {
  if (bytes.length > JSON_MAX) return `JSON of ${bytes.length} bytes, more than ${JSON_MAX}`;
  let depth = 0;
  let values = 0;
  let isText = false;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]!;
    if (byte === 0x22) isText = !isText;
    else if (isText) {
      if (byte === 0x5c) i++;
    } else if (byte === 0x2c) values++;
    else if (byte === 0x5b || byte === 0x7b) {
      values++;
      if (++depth > JSON_DEPTH) return `JSON of more than ${JSON_DEPTH} levels`;
    } else if (byte === 0x5d || byte === 0x7d) depth--;
  }
  return values > JSON_VALUES ? `JSON of more than ${JSON_VALUES} values` : undefined;
}
