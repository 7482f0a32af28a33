// The part of @alexaltea/capstone-js that is used; the package ships no types.

declare module '@alexaltea/capstone-js' {
  interface Instruction {
    readonly address: number;
    readonly size: number;
    readonly mnemonic: string;
    readonly op_str: string;
  }

  interface Disassembler {
    /** Throws when the first bytes are not an instruction. */
    disasm(bytes: Uint8Array | number[], address: number | bigint): Instruction[];
    close(): void;
  }

  interface Module {
    readonly Capstone: new (architecture: number, mode: number) => Disassembler;
    readonly ARCH_RISCV: number;
    readonly MODE_RISCV64: number;
    readonly MODE_RISCVC: number;
  }

  export default function create(): Promise<Module>;
}
