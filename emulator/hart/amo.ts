// The functions of the nine AMOs (Unpriv "A" §Atomic Memory Operations), by their funct5. Only the
// slow path uses them; BigInt is acceptable.

/**
 * The new memory value; `log2` is 2 for .w, 3 for .d. Only the low bytes of the result are valid.
 */
export function amoResult(funct5: number, log2: number, memory: bigint, operand: bigint): bigint {
  const bits = 8 << log2;
  const [a, b] = [BigInt.asIntN(bits, memory), BigInt.asIntN(bits, operand)];
  const [ua, ub] = [BigInt.asUintN(bits, memory), BigInt.asUintN(bits, operand)];
  switch (funct5) {
    case 0x00:
      return a + b;
    case 0x01:
      return b;
    case 0x04:
      return a ^ b;
    case 0x08:
      return a | b;
    case 0x0c:
      return a & b;
    case 0x10:
      return a < b ? a : b;
    case 0x14:
      return a > b ? a : b;
    case 0x18:
      return ua < ub ? ua : ub;
    case 0x1c:
      return ua > ub ? ua : ub;
    default:
      throw new RangeError(`no amo has funct5 0x${funct5.toString(16)}`);
  }
}
