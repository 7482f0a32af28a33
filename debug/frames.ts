// The calls that a hart is inside of, with what is known of each one's registers.
import { addrOf, cleanPath, type FrameView, type Registers, type Scope } from '../coverage/index.ts';
import { decode, type Hart, type Insn, type Machine, newInsn, readMemory } from '../emulator/index.ts';
import type { Image } from './image.ts';
import { wordAt } from './loops.ts';

export const FRAMES_MAX = 128;
const RA = 1;
export const SP = 2;
const FP = 8;

export interface Frame {
  readonly function: string;
  /** '' and 0 where unknown. */
  readonly file: string;
  readonly line: number;
  /** Of the instruction that runs, or to which the call returns. */
  readonly pc: bigint;
  /** In the statement that runs; of a caller inside its call: another function may follow. */
  readonly at: bigint;
  readonly image: Image | undefined;
  readonly scope: Scope | undefined;
  /** Was the call inlined into the frame above? */
  readonly isInlined: boolean;
  /** Canonical frame address: grows from callee to caller. */
  readonly cfa: bigint;
  readonly view: FrameView;
}

/** From the innermost out; as soon as there are `most`, no callers of these. */
export function framesOf(machine: Machine, hart: Hart, images: readonly Image[], most = FRAMES_MAX): Frame[] {
  const memory = (va: bigint, bytes: number): Uint8Array | undefined => {
    const data = readMemory(machine, hart, va, bytes);
    return data?.length === bytes ? data : undefined;
  };
  let registers: Registers = new Map([
    ...Array.from({ length: 32 }, (_, n): [number, bigint] => [n, hart.state.getX(n)]),
    ...Array.from({ length: 32 }, (_, n): [number, bigint] => [32 + n, hart.state.getF(n)]),
  ]);
  let { pc } = hart.state;
  const frames: Frame[] = [];
  /** Is `pc` that of an instruction, not the end of a call? */
  let isExact = true;
  for (let depth = 0; frames.length < most && depth < 2 * FRAMES_MAX; depth++) {
    const at: bigint = isExact ? pc : pc - 1n;
    const image: Image | undefined = images.find(one => one.hasCode(at));
    const interrupted: Caller | undefined = image ? undefined : byTrampoline(pc, registers, memory, images);
    const up = interrupted ?? (image && caller(image, pc, registers, memory, isExact));
    const cfa = up?.cfa ?? registers.get(SP) ?? 0n;
    // The end of a signal handler is no call of its own.
    if (!interrupted || depth === 0) frames.push(...framesAt(image, pc, at, registers, cfa, memory));
    if (
      !up ||
      up.pc === 0n ||
      (depth > 0 && up.pc === pc && up.cfa === cfa && up.registers.get(SP) === registers.get(SP))
    )
      break;
    pc = up.pc;
    registers = up.registers;
    isExact = interrupted !== undefined;
  }
  return frames;
}

/** The register that the frame of the innermost call at `pc` follows from, unless it is sp. */
export function frameRegister(image: Image | undefined, pc: bigint): number {
  const register = image?.frames.cfaRegister(pc) ?? FP;
  return register < 32 ? register : FP;
}

type Memory = (va: bigint, bytes: number) => Uint8Array | undefined;

interface Caller {
  readonly cfa: bigint;
  /** And the pc, where it goes on. */
  readonly registers: Registers;
  readonly pc: bigint;
}

function caller(image: Image, pc: bigint, registers: Registers, memory: Memory, isExact: boolean) {
  const gone = isExact ? byEpilogue(image, pc, registers, memory) : undefined;
  if (gone) return gone;
  // A call may be the last instruction of a function.
  const found = image.frames.unwind(isExact ? pc : pc - 1n, registers, memory);
  if (found) {
    const { cfa, caller: above, returns } = found;
    return { cfa, registers: above as Registers, pc: returns ?? 0n };
  }
  if (!image.scopesAt(pc)[0]) {
    const guess = byPrologue(image, pc, registers, memory);
    if (guess && image.hasCode(guess.pc - 1n)) return guess;
  }
  // By the frame pointer (psABI, "Frame Pointer Convention").
  const fp = registers.get(FP);
  const words = fp === undefined || fp % 8n !== 0n ? undefined : memory(fp - 16n, 16);
  if (fp === undefined || !words) return undefined;
  const view = new DataView(words.buffer, words.byteOffset);
  const above = new Map(registers);
  above.set(FP, view.getBigUint64(0, true));
  above.set(SP, fp);
  const returns = view.getBigUint64(8, true);
  above.set(RA, returns);
  return { cfa: fp, registers: above as Registers, pc: returns };
}

/**
 * Code that goes straight on to `ret` restores sp, ra and the saved registers on the way, where it
 * does not find them restored (psABI, "Integer Calling Convention"). Compilers do not write down
 * that a frame is gone, nor that code behind an epilogue has none. Undefined: it does not.
 */
function byEpilogue(image: Image, pc: bigint, registers: Registers, memory: Memory): Caller | undefined {
  const above = new Map(registers);
  for (let at = pc, n = 0; n < EPILOGUE_MAX; n++) {
    const insn = instructionAt(image, at);
    if (!insn) return undefined;
    const { name, rd, rs1, rs2, imm } = insn;
    const base = above.get(rs1);
    if (name === 'jalr' && rd === 0 && rs1 === RA) return callerBy(above);
    if (name === 'jal' && rd === 0) {
      at += BigInt(imm);
      // Another function that takes the place of this one has its return address.
      if (!image.functionAt(pc).some(({ low, high }) => low <= at && at < high)) return callerBy(above);
      continue;
    }
    if (LEAVING.has(name)) return undefined;
    if (STORES.has(name)) {
      if (rs1 === SP && isSaved(rs2)) return undefined; // a prologue
    } else if (name === 'ld' && rs1 === SP && isSaved(rd)) {
      const bytes = base === undefined ? undefined : memory(base + BigInt(imm), 8);
      if (!bytes) return undefined;
      above.set(rd, wordsOf(bytes)[0]!);
    } else if (rd === SP) {
      if (name !== 'addi' || base === undefined || (rs1 === SP && imm < 0)) return undefined;
      above.set(SP, base + BigInt(imm));
    } else if (rd === RA) return undefined;
    at += BigInt(insn.bytes);
  }
  return undefined;
}

const callerBy = (registers: Registers): Caller => ({
  cfa: registers.get(SP) ?? 0n,
  registers,
  pc: registers.get(RA) ?? 0n,
});

const EPILOGUE_MAX = 40;
const BRANCHES = ['beq', 'bne', 'blt', 'bge', 'bltu', 'bgeu'];
const LEAVING: ReadonlySet<string> = new Set(['jal', 'jalr', 'ecall', 'ebreak', 'sret', ...BRANCHES]);
const STORES: ReadonlySet<string> = new Set(['sb', 'sh', 'sw', 'sd', 'fsw', 'fsd']);
/** ra and s0 to s11. */
const isSaved = (n: number): boolean => n === RA || n === FP || n === 9 || (n >= 18 && n <= 27);

/**
 * A signal handler returns to `li a7, 139; ecall` (rt_sigreturn), on a page that need not be mapped
 * before it does, with sp at the registers of the interrupted code: pc, x1 to x31, f0 to f31
 * (struct rt_sigframe of linux/riscv64).
 */
function byTrampoline(pc: bigint, registers: Registers, memory: Memory, images: readonly Image[]) {
  const code = memory(pc, 8);
  const sp = registers.get(SP);
  if (sp === undefined || sp % 16n !== 0n || (code && wordsOf(code)[0] !== SIGRETURN)) return undefined;
  const saved = memory(sp + SAVED_AT, 64 * 8);
  if (!saved) return undefined;
  const [interrupted = 0n, ...words] = wordsOf(saved);
  if (!images.some(image => image.hasCode(interrupted))) return undefined;
  const above: Registers = new Map([[0, 0n], ...words.map((word, i): [number, bigint] => [i + 1, word])]);
  return { cfa: sp, registers: above, pc: interrupted };
}

const SIGRETURN = 0x00000073_08b00893n;
const SAVED_AT = 304n;

function wordsOf(bytes: Uint8Array): bigint[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return Array.from({ length: bytes.length / 8 }, (_, i) => view.getBigUint64(8 * i, true));
}

function instructionAt(image: Image, pc: bigint): Insn | undefined {
  const word = image.elf.read(addrOf(pc), 4) ?? image.elf.read(addrOf(pc), 2);
  return word && decode(wordAt(word, 0), INSN);
}

/**
 * Of a function that nothing describes, such as those of a libc: its first instructions say how far
 * they move sp and where they store ra and s0.
 */
function byPrologue(image: Image, pc: bigint, registers: Registers, memory: Memory) {
  const [function_] = image.functionAt(pc);
  const sp = registers.get(SP);
  if (!function_ || sp === undefined) return undefined;
  let size = 0;
  const saved = new Map<number, number>();
  for (let at = function_.low; at < pc && at < function_.low + PROLOGUE_MAX; ) {
    const insn = instructionAt(image, at);
    if (!insn) break;
    if (insn.name === 'addi' && insn.rd === SP && insn.rs1 === SP && insn.imm < 0) size -= insn.imm;
    if (insn.name === 'sd' && insn.rs1 === SP && !saved.has(insn.rs2)) saved.set(insn.rs2, insn.imm);
    if (LEAVING.has(insn.name)) break;
    at += BigInt(insn.bytes);
  }
  const caller = new Map(registers);
  for (const register of [RA, FP]) {
    const offset = saved.get(register);
    const bytes = offset === undefined ? undefined : memory(sp + BigInt(offset), 8);
    if (bytes) caller.set(register, wordsOf(bytes)[0]!);
  }
  const cfa = sp + BigInt(size);
  caller.set(SP, cfa);
  return { cfa, registers: caller as Registers, pc: caller.get(RA) ?? 0n };
}

const INSN = newInsn();
const PROLOGUE_MAX = 64n;

/** The frames of one activation: calls that were inlined are frames of their own. */
function framesAt(
  image: Image | undefined,
  pc: bigint,
  at: bigint,
  registers: Registers,
  cfa: bigint,
  memory: Memory,
): Frame[] {
  const scopes = image?.scopesAt(at) ?? [];
  const base = { register: (n: number) => (n === 0 ? 0n : registers.get(n)), memory, cfa: () => cfa };
  const outer = scopes.at(-1);
  const frameBase = (): bigint | undefined => outer && image?.variables.frameBase(outer, base);
  const view: FrameView = { ...base, frameBase };
  const lines = image?.symbolizer.frames(addrOf(at)) ?? [];
  if (lines.length === 0)
    return [
      { function: '??', file: '', line: 0, pc, at, image, scope: undefined, isInlined: false, cfa, view },
    ];
  return lines.map(({ function: name, file, line, inline }, i) => ({
    function: name || '??',
    file: file === '' || line === 0 ? '' : cleanPath(file),
    line,
    pc,
    at,
    image,
    scope: scopes[i],
    isInlined: inline,
    cfa,
    view,
  }));
}
