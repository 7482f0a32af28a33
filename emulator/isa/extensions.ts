// Extensions, one row each: QEMU's name of the `-cpu` property, whether the hart has it, and whether the device tree's
// `riscv,isa` names it. The order is QEMU's (`isa_edata_arr` in target/riscv/cpu.c), because guests print the string.
// The hart reads rows with a switch through `HartPorts.extensions`.

export interface ExtensionRow {
  /** Name in lower case; it is also the property's, which is compared without case. */
  readonly name: string;
  /** `switch`: as `-cpu rv64,name=on|off` says; `always`, `absent`: the other value is refused. */
  readonly presence: 'switch' | 'always' | 'absent';
  /** Is it there when nothing is said? */
  readonly on: boolean;
  /** Does `riscv,isa` name it? The base letters are one word there, privileged behaviour has no name in it. */
  readonly listed: boolean;
  /** QEMU 7.2's spelling of the property, where that version has one and its default may differ. */
  readonly qemu: string | undefined;
  /** A few words; of an absent one, the reason. */
  readonly doc: string;
}

const letter = <const N extends string>(name: N, doc: string) =>
  ({ name, presence: 'always', on: true, listed: false, qemu: undefined, doc }) as const;
const always = <const N extends string>(name: N, qemu: string | undefined, doc: string) =>
  ({ name, presence: 'always', on: true, listed: true, qemu, doc }) as const;
const optional = <const N extends string>(name: N, on: boolean, qemu: string | undefined, doc: string) =>
  ({ name, presence: 'switch', on, listed: true, qemu, doc }) as const;
const absent = <const N extends string>(name: N, qemu: string | undefined, doc: string) =>
  ({ name, presence: 'absent', on: false, listed: false, qemu, doc }) as const;

// biome-ignore format: one row, one extension
const ROWS = [
  letter('i', 'base integer instructions'),
  letter('m', 'multiplication and division'),
  letter('a', 'atomics'),
  letter('f', 'single precision'),
  letter('d', 'double precision'),
  letter('c', 'compressed instructions'),
  letter('s', 'supervisor mode'),
  letter('u', 'user mode'),
  absent('e', 'e', 'the small register file is of 32-bit controllers'),
  absent('h', 'h', 'no hypervisor extension'),
  absent('v', 'v', 'vectors are the next step'),
  always('zicsr',    undefined, 'control and status registers'),
  always('zifencei', undefined, 'fence.i'),
  always('zba', 'zba', 'address generation'),
  always('zbb', 'zbb', 'basic bit manipulation'),
  absent('zbc', 'zbc', 'no carry-less multiplication'),
  always('zbs', 'zbs', 'single bits'),
  optional('sstc', true, 'sstc', 'stimecmp, the timer of S-mode'),
] as const;

/** An extension that `-cpu` can switch. */
export type OptionalExtension = Extract<(typeof ROWS)[number], { presence: 'switch' }>['name'];
/** The optional extensions that a hart has. */
export type Extensions = ReadonlySet<OptionalExtension>;

export const EXTENSIONS: readonly ExtensionRow[] = ROWS;

const optionals = ROWS.filter(row => row.presence === 'switch');
export const DEFAULT_EXTENSIONS: Extensions = new Set(optionals.filter(row => row.on).map(row => row.name));

export const isOptional = (name: string): name is OptionalExtension =>
  optionals.some(row => row.name === name);

const has = (row: ExtensionRow, chosen: Extensions): boolean =>
  row.presence === 'always' || (isOptional(row.name) && chosen.has(row.name));

/** `riscv,isa` of the device tree. */
export function isaString(chosen: Extensions): string {
  const named = EXTENSIONS.filter(row => row.listed && has(row, chosen));
  return ['rv64imafdc', ...named.map(row => row.name)].join('_');
}

/** The same hart as an argument of QEMU's `-cpu`; 7.2 and later understand it. */
export function qemuCpu(chosen: Extensions): string {
  const properties = EXTENSIONS.filter(row => row.qemu !== undefined).map(
    row => `${row.qemu}=${has(row, chosen) ? 'on' : 'off'}`,
  );
  return ['rv64', ...properties, 'pmu-num=29'].join(',');
}
