// The semantics of LR, SC and AMO instructions (Unpriv, "A" chapter). Harts run one at a time, so a
// plain read-modify-write is atomic; aq and rl have no effect. Reservation rule: the reservation is
// one physical address, stored in the window; an sc must have the same address. Any sc of this hart
// ends it, and so does the turn of another hart, but not a trap. So no store of another hart can
// come between lr and a successful sc. Stores of the same hart do not break it.

import { RESERVATION } from '../../hart/layout.ts';
import { type I32, I64, type Local } from '../../wasm/module.ts';
import type { Ops, Rule } from './ops.ts';

type Bytes = 4 | 8;

/** i64: the value at `host`, sign-extended. */
function fetch(o: Ops, bytes: Bytes, host: Local<I32>): void {
  o.c.local_get(host);
  if (bytes === 4) o.c.i64_load32_s(0);
  else o.c.i64_load(0);
}

/** Stores `value` (pushes i64) at `host`. */
function put(o: Ops, bytes: Bytes, host: Local<I32>, value: () => void): void {
  o.c.local_get(host);
  value();
  if (bytes === 4) o.c.i64_store32(0);
  else o.c.i64_store(0);
}

const loadReserved =
  (bytes: Bytes): Rule =>
  o =>
    o.atomic({ kind: 'lr', bytes, funct5: 2 }, host => {
      o.c.i32_const(0);
      o.physical(host);
      o.c.i64_store(RESERVATION);
      o.rd(() => fetch(o, bytes, host));
    });

const storeConditional =
  (bytes: Bytes): Rule =>
  o =>
    o.atomic({ kind: 'sc', bytes, funct5: 3 }, host => {
      const { c } = o;
      const failed = o.temp(I64);
      c.i32_const(0).i64_load(RESERVATION);
      o.physical(host);
      c.i64_ne().i64_extend_i32_u().local_set(failed);
      c.local_get(failed).i64_eqz().if_();
      put(o, bytes, host, () => o.rs2());
      c.end();
      c.i32_const(0).i64_const(-1).i64_store(RESERVATION);
      o.rd(() => void c.local_get(failed));
    });

/** New value from `old` and `operand` (locals); pushes i64, with the result in the low `bytes`. */
type Combine = (o: Ops, old: Local<I64>, operand: Local<I64>) => void;

const amo =
  (bytes: Bytes, funct5: number, combine: Combine): Rule =>
  o =>
    o.atomic({ kind: 'amo', bytes, funct5 }, host => {
      const { c } = o;
      const old = o.temp(I64);
      const operand = o.temp(I64);
      fetch(o, bytes, host);
      c.local_set(old);
      o.rs2();
      if (bytes === 4) c.i64_extend32_s();
      c.local_set(operand);
      put(o, bytes, host, () => combine(o, old, operand));
      o.rd(() => void c.local_get(old));
    });

const swap: Combine = (o, _old, operand) => void o.c.local_get(operand);

const binary =
  (op: 'i64_add' | 'i64_xor' | 'i64_and' | 'i64_or'): Combine =>
  (o, old, operand) =>
    void o.c.local_get(old).local_get(operand)[op]();

/**
 * Sign extension preserves the order of unsigned 32-bit values too, so one implementation serves
 * both widths.
 */
const choose =
  (op: 'i64_lt_s' | 'i64_gt_s' | 'i64_lt_u' | 'i64_gt_u'): Combine =>
  (o, old, operand) =>
    void o.c.local_get(old).local_get(operand).local_get(old).local_get(operand)[op]().select();

export const ATOMIC = {
  'lr.w': loadReserved(4),
  'sc.w': storeConditional(4),
  'amoswap.w': amo(4, 0x01, swap),
  'amoadd.w': amo(4, 0x00, binary('i64_add')),
  'amoxor.w': amo(4, 0x04, binary('i64_xor')),
  'amoand.w': amo(4, 0x0c, binary('i64_and')),
  'amoor.w': amo(4, 0x08, binary('i64_or')),
  'amomin.w': amo(4, 0x10, choose('i64_lt_s')),
  'amomax.w': amo(4, 0x14, choose('i64_gt_s')),
  'amominu.w': amo(4, 0x18, choose('i64_lt_u')),
  'amomaxu.w': amo(4, 0x1c, choose('i64_gt_u')),
  'lr.d': loadReserved(8),
  'sc.d': storeConditional(8),
  'amoswap.d': amo(8, 0x01, swap),
  'amoadd.d': amo(8, 0x00, binary('i64_add')),
  'amoxor.d': amo(8, 0x04, binary('i64_xor')),
  'amoand.d': amo(8, 0x0c, binary('i64_and')),
  'amoor.d': amo(8, 0x08, binary('i64_or')),
  'amomin.d': amo(8, 0x10, choose('i64_lt_s')),
  'amomax.d': amo(8, 0x14, choose('i64_gt_s')),
  'amominu.d': amo(8, 0x18, choose('i64_lt_u')),
  'amomaxu.d': amo(8, 0x1c, choose('i64_gt_u')),
} as const satisfies Record<string, Rule>;
