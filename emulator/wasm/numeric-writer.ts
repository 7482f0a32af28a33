// The instructions without immediates (core spec 2.0 §5.4.6, §5.4.7) that the emulator uses, one
// method each under the specification's name with the dot replaced by an underscore. Every method
// appends its opcode and returns the writer.

import { ByteBuffer } from './byte-buffer.ts';

export class NumericWriter extends ByteBuffer {
  /** Appends a one-byte instruction. */
  op(code: number): this {
    this.byte(code);
    return this;
  }

  /** Appends an instruction of the 0xfc page. */
  protected opFc(code: number): this {
    this.byte(0xfc);
    this.u32(code);
    return this;
  }

  /** Appends a vector instruction. */
  protected opFd(code: number): this {
    this.byte(0xfd);
    this.u32(code);
    return this;
  }

  // comparison
  i32_eqz(): this {
    return this.op(0x45);
  }
  i32_eq(): this {
    return this.op(0x46);
  }
  i32_ne(): this {
    return this.op(0x47);
  }
  i32_lt_s(): this {
    return this.op(0x48);
  }
  i32_lt_u(): this {
    return this.op(0x49);
  }
  i32_gt_s(): this {
    return this.op(0x4a);
  }
  i32_gt_u(): this {
    return this.op(0x4b);
  }
  i32_le_u(): this {
    return this.op(0x4d);
  }
  i32_ge_s(): this {
    return this.op(0x4e);
  }
  i32_ge_u(): this {
    return this.op(0x4f);
  }
  i64_eqz(): this {
    return this.op(0x50);
  }
  i64_eq(): this {
    return this.op(0x51);
  }
  i64_ne(): this {
    return this.op(0x52);
  }
  i64_lt_s(): this {
    return this.op(0x53);
  }
  i64_lt_u(): this {
    return this.op(0x54);
  }
  i64_gt_s(): this {
    return this.op(0x55);
  }
  i64_gt_u(): this {
    return this.op(0x56);
  }
  i64_le_u(): this {
    return this.op(0x58);
  }
  i64_ge_s(): this {
    return this.op(0x59);
  }
  i64_ge_u(): this {
    return this.op(0x5a);
  }
  f64_eq(): this {
    return this.op(0x61);
  }
  f64_ne(): this {
    return this.op(0x62);
  }
  f64_lt(): this {
    return this.op(0x63);
  }
  f64_gt(): this {
    return this.op(0x64);
  }
  f64_le(): this {
    return this.op(0x65);
  }
  f64_ge(): this {
    return this.op(0x66);
  }

  // i32 and i64 arithmetic
  i32_clz(): this {
    return this.op(0x67);
  }
  i32_ctz(): this {
    return this.op(0x68);
  }
  i32_popcnt(): this {
    return this.op(0x69);
  }
  i32_add(): this {
    return this.op(0x6a);
  }
  i32_sub(): this {
    return this.op(0x6b);
  }
  i32_mul(): this {
    return this.op(0x6c);
  }
  i32_and(): this {
    return this.op(0x71);
  }
  i32_or(): this {
    return this.op(0x72);
  }
  i32_xor(): this {
    return this.op(0x73);
  }
  i32_shl(): this {
    return this.op(0x74);
  }
  i32_shr_s(): this {
    return this.op(0x75);
  }
  i32_shr_u(): this {
    return this.op(0x76);
  }
  i32_rotl(): this {
    return this.op(0x77);
  }
  i32_rotr(): this {
    return this.op(0x78);
  }
  i64_clz(): this {
    return this.op(0x79);
  }
  i64_ctz(): this {
    return this.op(0x7a);
  }
  i64_popcnt(): this {
    return this.op(0x7b);
  }
  i64_add(): this {
    return this.op(0x7c);
  }
  i64_sub(): this {
    return this.op(0x7d);
  }
  i64_mul(): this {
    return this.op(0x7e);
  }
  i64_div_s(): this {
    return this.op(0x7f);
  }
  i64_div_u(): this {
    return this.op(0x80);
  }
  i64_rem_s(): this {
    return this.op(0x81);
  }
  i64_rem_u(): this {
    return this.op(0x82);
  }
  i64_and(): this {
    return this.op(0x83);
  }
  i64_or(): this {
    return this.op(0x84);
  }
  i64_xor(): this {
    return this.op(0x85);
  }
  i64_shl(): this {
    return this.op(0x86);
  }
  i64_shr_s(): this {
    return this.op(0x87);
  }
  i64_shr_u(): this {
    return this.op(0x88);
  }
  i64_rotl(): this {
    return this.op(0x89);
  }
  i64_rotr(): this {
    return this.op(0x8a);
  }

  // f32 and f64 arithmetic
  f32_neg(): this {
    return this.op(0x8c);
  }
  f32_sqrt(): this {
    return this.op(0x91);
  }
  f32_add(): this {
    return this.op(0x92);
  }
  f32_sub(): this {
    return this.op(0x93);
  }
  f32_mul(): this {
    return this.op(0x94);
  }
  f32_div(): this {
    return this.op(0x95);
  }
  f32_copysign(): this {
    return this.op(0x98);
  }
  f64_abs(): this {
    return this.op(0x99);
  }
  f64_neg(): this {
    return this.op(0x9a);
  }
  f64_ceil(): this {
    return this.op(0x9b);
  }
  f64_floor(): this {
    return this.op(0x9c);
  }
  f64_trunc(): this {
    return this.op(0x9d);
  }
  f64_nearest(): this {
    return this.op(0x9e);
  }
  f64_sqrt(): this {
    return this.op(0x9f);
  }
  f64_add(): this {
    return this.op(0xa0);
  }
  f64_sub(): this {
    return this.op(0xa1);
  }
  f64_mul(): this {
    return this.op(0xa2);
  }
  f64_div(): this {
    return this.op(0xa3);
  }
  f64_min(): this {
    return this.op(0xa4);
  }
  f64_max(): this {
    return this.op(0xa5);
  }
  f64_copysign(): this {
    return this.op(0xa6);
  }

  // conversion
  i32_wrap_i64(): this {
    return this.op(0xa7);
  }
  i64_extend_i32_s(): this {
    return this.op(0xac);
  }
  i64_extend_i32_u(): this {
    return this.op(0xad);
  }
  f32_convert_i64_s(): this {
    return this.op(0xb4);
  }
  f32_convert_i64_u(): this {
    return this.op(0xb5);
  }
  f32_demote_f64(): this {
    return this.op(0xb6);
  }
  f64_convert_i64_s(): this {
    return this.op(0xb9);
  }
  f64_convert_i64_u(): this {
    return this.op(0xba);
  }
  f64_promote_f32(): this {
    return this.op(0xbb);
  }
  i32_reinterpret_f32(): this {
    return this.op(0xbc);
  }
  i64_reinterpret_f64(): this {
    return this.op(0xbd);
  }
  f32_reinterpret_i32(): this {
    return this.op(0xbe);
  }
  f64_reinterpret_i64(): this {
    return this.op(0xbf);
  }

  // sign extension
  i64_extend8_s(): this {
    return this.op(0xc2);
  }
  i64_extend16_s(): this {
    return this.op(0xc3);
  }
  i64_extend32_s(): this {
    return this.op(0xc4);
  }

  // saturating truncation
  i64_trunc_sat_f64_s(): this {
    return this.opFc(6);
  }
  i64_trunc_sat_f64_u(): this {
    return this.opFc(7);
  }

  // Vectors (core spec 2.0 §5.4.8) and relaxed vectors: only the instructions for a fused
  // multiply-add of scalars.
  f32x4_splat(): this {
    return this.opFd(0x13);
  }
  f64x2_splat(): this {
    return this.opFd(0x14);
  }
  f32x4_extract_lane(lane: number): this {
    return this.opFd(0x1f).op(lane);
  }
  f64x2_extract_lane(lane: number): this {
    return this.opFd(0x21).op(lane);
  }
  f32x4_relaxed_madd(): this {
    return this.opFd(0x105);
  }
  f32x4_relaxed_nmadd(): this {
    return this.opFd(0x106);
  }
  f64x2_relaxed_madd(): this {
    return this.opFd(0x107);
  }
  f64x2_relaxed_nmadd(): this {
    return this.opFd(0x108);
  }
}
