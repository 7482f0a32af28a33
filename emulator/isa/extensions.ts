// Extensions, one row each: QEMU's name of the `-cpu` property, whether the hart has it, whether
// the device tree names it, and its status in the RVA22 profile. The order is QEMU's
// (`isa_edata_arr` in target/riscv/cpu.c), because guests print the string. The decoder, `-cpu`,
// the device tree and docs/isa.md derive from the rows; the hart reads rows with a switch through
// `HartPorts.extensions`.

/** RVA22U64 for unprivileged extensions, RVA22S64 for the others. */
export type InProfile = 'mandatory' | 'optional' | 'no';

export interface ExtensionRow {
  /** Name in lower case; also the name of the property, which is compared ignoring case. */
  readonly name: string;
  /**
   * `switch`: `-cpu rv64,name=on|off` selects it; `always`, `absent`: the other value is refused;
   * `opposite`: present if the extension `of` is absent, and its switch inverts that one.
   */
  readonly presence: 'switch' | 'always' | 'absent' | 'opposite';
  readonly of?: string;
  /** True if `-cpu rv64` has it. */
  readonly on: boolean;
  /**
   * True if `riscv,isa` names it. The base letters are one word there; privilege levels are not
   * named.
   */
  readonly listed: boolean;
  /**
   * The first version of QEMU, 7 (that is, 7.2) or 10, in which the property exists; undefined:
   * none has it.
   */
  readonly since: 7 | 10 | undefined;
  readonly rva22: InProfile;
  /** A few words; of an absent one, the reason. */
  readonly doc: string;
}

/** Bytes of a cache block for Zicbom, Zicbop and Zicboz (Zic64b). */
export const CACHE_BLOCK_BYTES = 64;

type Since = ExtensionRow['since'];

/** A base letter, or a name that `riscv,isa` and QEMU's `-cpu` do not know. */
const letter = <const N extends string>(name: N, rva22: InProfile, doc: string) =>
  ({ name, presence: 'always', on: true, listed: false, since: undefined, rva22, doc }) as const;
const always = <const N extends string>(name: N, rva22: InProfile, doc: string) =>
  ({ name, presence: 'always', on: true, listed: true, since: undefined, rva22, doc }) as const;
const optional = <const N extends string>(
  name: N,
  on: boolean,
  since: Since,
  rva22: InProfile,
  doc: string,
) => ({ name, presence: 'switch', on, listed: true, since, rva22, doc }) as const;
const opposite = <const N extends string>(name: N, of: string, since: Since, rva22: InProfile, doc: string) =>
  ({ name, presence: 'opposite', of, on: false, listed: true, since, rva22, doc }) as const;
const absent = <const N extends string>(name: N, since: Since, rva22: InProfile, doc: string) =>
  ({ name, presence: 'absent', on: false, listed: false, since, rva22, doc }) as const;

const on = true;
const off = false;

// biome-ignore format: one row, one extension
const ROWS = [
  letter('i', 'mandatory', 'base integer instructions'),
  letter('m', 'mandatory', 'multiplication and division'),
  letter('a', 'mandatory', 'atomics'),
  letter('f', 'mandatory', 'single precision'),
  letter('d', 'mandatory', 'double precision'),
  letter('c', 'mandatory', 'compressed instructions'),
  letter('s', 'mandatory', 'supervisor mode'),
  letter('u', 'mandatory', 'user mode'),
  absent('e', 7, 'no', 'the small register file is for 32-bit controllers'),
  absent('h', 7, 'optional', 'no hypervisor extension'),
  absent('v', 7, 'optional', 'vectors are the next step'),
  letter('sm1p12',           'no',        'machine mode as Priv 1.12 has it'),
  letter('ss1p12',           'mandatory', 'supervisor mode as Priv 1.12 has it'),
  letter('svbare',           'mandatory', 'satp can be Bare'),
  letter('sv39',             'mandatory', 'three levels of page tables'),
  letter('sv48',             'optional',  'four levels of page tables'),
  absent('sv57', undefined,    'optional',  'satp has Bare, Sv39 and Sv48'),
  always('zic64b',             'mandatory', 'cache blocks have 64 bytes'),
  optional('zicbom', on, 10,   'mandatory', 'cache-block management: cbo.clean, cbo.flush, cbo.inval'),
  optional('zicbop', on, 10,   'mandatory', 'prefetches, which are hints'),
  optional('zicboz', on, 10,   'mandatory', 'cbo.zero'),
  always('ziccamoa',           'mandatory', 'main memory supports all atomics'),
  always('ziccif',             'mandatory', 'instruction fetches from main memory are atomic'),
  always('zicclsm',            'mandatory', 'misaligned loads and stores of main memory'),
  always('ziccrse',            'mandatory', 'constrained lr/sc loops succeed eventually'),
  optional('zicond', off, 10,  'no',        'conditional operations: czero.eqz, czero.nez'),
  always('zicntr',             'mandatory', 'cycle, time, instret'),
  always('zicsr',              'mandatory', 'control and status registers'),
  always('zifencei',           'mandatory', 'fence.i'),
  always('zihintntl',          'no',        'hints of non-temporal locality'),
  always('zihintpause',        'mandatory', 'pause, a hint'),
  optional('zihpm', on, 10,    'mandatory', 'hpmcounter3 to 31 and mhpmcounter3 to 31'),
  always('zmmul',              'no',        'multiplication, a part of M'),
  always('za64rs',             'mandatory', 'reservation sets of at most 64 bytes'),
  always('zaamo',              'no',        'atomic memory operations, a part of A'),
  always('zalrsc',             'no',        'load-reserved and store-conditional, a part of A'),
  absent('zawrs', 10,          'no',        'no instructions that wait for a reservation set'),
  optional('zfa', on, 10,      'no',        'fli, fround, fminm, fmaxm, fleq, fltq, fcvtmod'),
  absent('zfh', undefined,     'optional',  'halves can be loaded, stored, moved and converted only (zfhmin)'),
  optional('zfhmin', off, 10,  'mandatory', 'half precision: load, store, move, convert'),
  always('zca',                'no',        'compressed integer instructions, a part of C'),
  optional('zcb', off, 10,     'no',        'more compressed loads, stores and extensions, not, mul'),
  always('zcd',                'no',        'compressed loads and stores of doubles, a part of C'),
  optional('zba', on, 7,       'mandatory', 'address generation'),
  optional('zbb', on, 7,       'mandatory', 'basic bit manipulation'),
  optional('zbc', on, 7,       'no',        'carry-less multiplication'),
  optional('zbs', on, 7,       'mandatory', 'single bits'),
  absent('zkn', undefined,     'optional',  'no scalar cryptography (NIST)'),
  absent('zkr', undefined,     'optional',  'no entropy source: CSR seed'),
  absent('zks', undefined,     'optional',  'no scalar cryptography (ShangMi)'),
  optional('zkt', off, 7,      'mandatory', 'time does not depend on data: every instruction takes one unit'),
  always('ssccptr',            'mandatory', 'page tables may lie in main memory'),
  absent('sscofpmf', undefined, 'optional', 'counters do not interrupt when they overflow'),
  always('sscounterenw',       'mandatory', 'scounteren has a bit for every counter'),
  optional('sstc', on, 7,      'optional',  'stimecmp, the timer of S-mode'),
  always('sstvala',            'mandatory', 'stval has the address or the word of a fault'),
  always('sstvecd',            'mandatory', 'stvec in direct mode'),
  always('ssu64xl',            'optional',  'UXL is 64'),
  opposite('svade', 'svadu', 10, 'mandatory', 'a page fault when A or D would have to be set; it is there when svadu is off'),
  optional('svadu', on, 10,    'no',        'the hart sets A and D as menvcfg.ADUE says'),
  optional('svinval', on, 7,   'mandatory', 'sfence.vma in parts'),
  optional('svnapot', on, 7,   'optional',  '64 KiB translations'),
  optional('svpbmt', on, 7,    'mandatory', 'page-based memory types'),
] as const;

/** An extension that the hart has or can have. */
export type ExtensionName = Exclude<(typeof ROWS)[number], { presence: 'absent' | 'opposite' }>['name'];
/** An extension that `-cpu` can switch. */
export type OptionalExtension = Extract<(typeof ROWS)[number], { presence: 'switch' }>['name'];
/** The optional extensions that a hart has. */
export type Extensions = ReadonlySet<OptionalExtension>;

export const EXTENSIONS: readonly ExtensionRow[] = ROWS;

const optionals = ROWS.filter(row => row.presence === 'switch');
export const DEFAULT_EXTENSIONS: Extensions = new Set(optionals.filter(row => row.on).map(row => row.name));
/**
 * `-cpu rva22s64`: the extensions that the profile demands, and no others that can be switched off.
 */
export const RVA22_EXTENSIONS: Extensions = new Set(
  optionals.filter(row => row.rva22 === 'mandatory').map(row => row.name),
);
/** `-cpu max`. */
export const ALL_EXTENSIONS: Extensions = new Set(optionals.map(row => row.name));

export const isOptional = (name: string): name is OptionalExtension =>
  optionals.some(row => row.name === name);

function has({ name, presence, of }: ExtensionRow, chosen: Extensions): boolean {
  if (presence === 'opposite') return !has(EXTENSIONS.find(row => row.name === of)!, chosen);
  return presence === 'always' || (isOptional(name) && chosen.has(name));
}

/** Base letters of the ISA string, in its order. */
const LETTERS = 'imafdc';

const listedNames = (chosen: Extensions): string[] =>
  EXTENSIONS.filter(row => row.listed && has(row, chosen)).map(row => row.name);

/** `riscv,isa` of the device tree. */
export const isaString = (chosen: Extensions): string => [`rv64${LETTERS}`, ...listedNames(chosen)].join('_');

/** `riscv,isa-extensions` of the device tree. */
export const isaExtensions = (chosen: Extensions): string[] => [...LETTERS, ...listedNames(chosen)];

/** The same hart as an argument of `-cpu` of this version of QEMU or a later one. */
export function qemuCpu(chosen: Extensions, version: 7 | 10 = 7): string {
  const properties = EXTENSIONS.filter(row => row.since !== undefined && row.since <= version).map(
    row => `${row.name}=${has(row, chosen) ? 'on' : 'off'}`,
  );
  const counters = chosen.has('zihpm') ? 29 : 0;
  return ['rv64', ...properties, `pmu-num=${counters}`].join(',');
}
