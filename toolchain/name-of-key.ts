/**
 * Name of a product: 32 hexadecimal digits that spread keys. Not a cryptographic hash, for which
 * the module alone would cost a hello program 3 ms; the manifest holds the key itself.
 */
export function nameOfKey(key: string): string {
  const lanes = [0x811c_9dc5, 0x9747_b28c, 0x3c6e_f372, 0x85eb_ca6b];
  for (let i = 0; i < key.length; i++)
    for (let lane = 0; lane < 4; lane++)
      lanes[lane] = Math.imul(
        lanes[lane]! ^ key.charCodeAt(i) ^ (lanes[lane]! >>> 15),
        0x0100_0193 + 2 * lane,
      );
  return lanes.map(lane => (lane >>> 0).toString(16).padStart(8, '0')).join('');
}
