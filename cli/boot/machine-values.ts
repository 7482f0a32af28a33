// Values of QEMU's options about the machine: sizes, numbers of harts, rate and start of the
// clocks.
import { counted, ICOUNT_MAX, MAX_HARTS, MIB, RAM_MAX, RAM_MIN } from '../../emulator/index.ts';
import { UserError } from '../io/fail.ts';
import { oneOf, onlyKeys, properties } from './properties.ts';

const SUFFIXES: Readonly<Record<string, number>> = { B: 1, K: 2 ** 10, M: 2 ** 20, G: 2 ** 30, T: 2 ** 40 };

/** Bytes of QEMU's sizes: a number, also with a fraction, and a suffix; MiB without one. */
function parseSize(option: string, text: string): number {
  const [, number, suffix] = /^(\d+(?:\.\d+)?)([BKMGT]?)$/i.exec(text) ?? [];
  const bytes = Number(number) * SUFFIXES[(suffix || 'M').toUpperCase()]!;
  if (!(bytes > 0) || bytes % 1 !== 0)
    throw new UserError(`${option} ${text}: expected a size, for example 128M, 0.25G or 512`);
  return bytes;
}

/** `-m [size=]SIZE[,slots=N][,maxmem=SIZE]`, in bytes. */
export function parseMemory(text: string): number {
  const p = properties(text);
  onlyKeys(`-m ${text}`, p, ['', 'size', 'slots', 'maxmem']);
  const bytes = parseSize('-m', p.get('size') ?? p.get('') ?? '');
  const max = p.get('maxmem');
  if (max !== undefined && parseSize('-m maxmem', max) !== bytes)
    throw new UserError(`-m ${text}: no memory can be plugged in later; give all of it as the size`);
  if (bytes < RAM_MIN || bytes > RAM_MAX)
    throw new UserError(`-m ${text}: ${RAM_MIN / MIB} to ${RAM_MAX / MIB} MiB are possible`);
  return bytes;
}

const TOPOLOGY = ['sockets', 'dies', 'clusters', 'cores', 'threads'] as const;

/**
 * `-smp [cpus=]N[,maxcpus=N][,sockets=N]...`: the number of harts. Missing parts of the topology
 * are derived from the others, as in QEMU.
 */
export function parseSmp(text: string): number {
  const refuse = (why: string): never => {
    throw new UserError(`-smp ${text}: ${why}`);
  };
  const p = properties(text);
  onlyKeys(`-smp ${text}`, p, ['', 'cpus', 'maxcpus', ...TOPOLOGY]);
  const count = (key: string): number | undefined => {
    const value = p.get(key);
    if (value === undefined) return undefined;
    return /^[1-9]\d{0,3}$/.test(value) ? Number(value) : refuse(`"${value}" is not a number of harts`);
  };
  const given = TOPOLOGY.map(count);
  const product = given.reduce<number>((a, b) => a * (b ?? 1), 1);
  const harts = count('cpus') ?? count('') ?? count('maxcpus') ?? product;
  if ((count('maxcpus') ?? harts) !== harts) refuse('no hart can be plugged in later: maxcpus must be cpus');
  const isWhole = given.every(n => n !== undefined);
  if (harts % product !== 0 || (isWhole && harts !== product))
    refuse(`the topology has ${counted(product, 'hart')}, not ${harts}`);
  if (harts > MAX_HARTS) refuse(`1 to ${MAX_HARTS} harts are possible`);
  return harts;
}

/**
 * QEMU's `auto` begins with this shift, then follows the host's clock, which would make two runs
 * differ.
 */
const SHIFT_AUTO = 3;

/** `-icount [shift=]N|auto[,align=off][,sleep=on|off]`: the shift. */
export function parseIcount(text: string): number {
  const p = properties(text);
  if (p.has('rr'))
    throw new UserError(`-icount ${text}: every run can be repeated; kcovbox run --record keeps the input`);
  onlyKeys(`-icount ${text}`, p, ['', 'shift', 'align', 'sleep']);
  if (p.get('align') === 'on')
    throw new UserError(`-icount ${text}: align=on would make runs follow the host's clock; omit it`);
  const shift = p.get('shift') ?? p.get('') ?? '0';
  if (shift === 'auto') return SHIFT_AUTO;
  if (!/^\d{1,2}$/.test(shift) || Number(shift) > ICOUNT_MAX)
    throw new UserError(`-icount ${text}: shift is 0 to ${ICOUNT_MAX}, or auto`);
  return Number(shift);
}

/**
 * `-rtc [base=utc|localtime|DATE][,clock=...][,driftfix=...]`: nanoseconds since 1970 of a date;
 * undefined = the default.
 */
export function parseRtc(text: string): bigint | undefined {
  const p = properties(text);
  onlyKeys(`-rtc ${text}`, p, ['base', 'clock', 'driftfix']);
  oneOf('-rtc clock', p.get('clock') ?? 'vm', ['host', 'rt', 'vm']);
  const base = p.get('base') ?? 'utc';
  if (base === 'utc' || base === 'localtime') return undefined;
  const [, date, time = 'T00:00:00'] = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d:\d\d)?$/.exec(base) ?? [];
  const ms = Date.parse(`${date}${time}Z`);
  if (!(ms >= 0))
    throw new UserError(`-rtc base=${base}: expected a date such as 2026-01-31 or 2026-01-31T12:00:00`);
  return BigInt(ms) * 1_000_000n;
}
