// A function that counts in guest memory, as a tracer would plant one, and its inline form: the
// smallest InlineCall.

import type {
  InlineCall,
  InlineContext,
  InlineEmitter,
  InlineSite,
} from '../../emulator/engine/jit/inline-call.ts';
import { encode as e } from '../../emulator/isa/index.ts';
import { I32 } from '../../emulator/wasm/module.ts';
import { RAM_BASE } from './flat.ts';

/** The word in which it counts; RAM is mapped there one to one. */
export const COUNTER = RAM_BASE + 0x2_0000;
const [RA, T0, T1] = [1, 5, 6];

/** The probe at an address; five instructions. */
export const PROBE_WORDS = (at: number, step = 1): number[] => {
  const distance = COUNTER - at;
  const low = (distance << 20) >> 20;
  return [
    e('auipc', { rd: T0, imm: distance - low }),
    e('ld', { rd: T1, rs1: T0, imm: low }),
    e('addi', { rd: T1, rs1: T1, imm: step }),
    e('sd', { rs1: T0, rs2: T1, imm: low }),
    e('jalr', { rd: 0, rs1: RA, imm: 0 }),
  ];
};

/** Told about every call that is given an inline form. */
export type OnSite = (behind: bigint) => void;

class ProbeEmitter implements InlineEmitter {
  readonly #o: InlineContext;
  readonly #onSite: OnSite;

  constructor(context: InlineContext, onSite: OnSite) {
    this.#o = context;
    this.#onSite = onSite;
  }

  enter(): void {}
  leave(): void {}

  release(): void {}

  site(call: InlineCall, { behind, generic }: InlineSite): void {
    this.#onSite(behind);
    const { address } = call;
    const { c, x, ic, isVerified, ram } = this.#o;
    const at = c.local(I32);
    const done = c.block();
    const real = c.block();
    c.local_get(isVerified).i32_eqz().br_if(real, 'unlikely');
    c.i32_const(0)
      .i32_load8_u(ram.codeMap + (COUNTER - ram.base) / 4096)
      .br_if(real, 'unlikely');
    c.i32_const(ram.hostBase + COUNTER - ram.base).local_set(at);
    const distance = COUNTER - Number(address);
    c.i64_const(COUNTER - ((distance << 20) >> 20)).local_set(x[T0]!);
    c.local_get(at).local_get(at).i64_load().i64_const(1).i64_add().local_tee(x[T1]!).i64_store();
    c.local_get(ic).i32_const(5).i32_sub().local_set(ic);
    this.#o.ran(call, 0, 20);
    c.br(done).end();
    generic();
    c.end();
    c.release(at);
  }
}

/** The probe at an address, with the code that is compared. */
export function probeCall(
  address: number,
  { pa = address, words = PROBE_WORDS(address), onSite = () => {} }: Partial<ProbeOptions> = {},
): InlineCall {
  return {
    ...{ address: BigInt(address), pa, words, reads: 0, writes: (1 << T0) | (1 << T1), cost: 5 },
    family: { accepts: () => true, begin: context => new ProbeEmitter(context, onSite) },
  };
}

interface ProbeOptions {
  pa: number;
  words: readonly number[];
  onSite: OnSite;
}
