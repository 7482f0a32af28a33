// Parsers of option values, shared by the verbs. Each throws commander's own error, so that the
// message names the option.
import { InvalidArgumentError, Option } from 'commander';
import {
  type Extensions,
  HostError,
  ICOUNT_MAX,
  parseCpu,
  parseSchedule,
  type Schedule,
} from '../../emulator/index.ts';
import type { Moment } from '../run/moment.ts';

const UNITS: Readonly<Record<string, number>> = { '': 2 ** 20, K: 2 ** 10, M: 2 ** 20, G: 2 ** 30 };

/**
 * Bytes of a RAM size in QEMU's spelling: a number of MiB, or with a suffix K, M, G. 16 MiB to 2
 * GiB.
 */
export function parseRam(text: string): number {
  const match = /^(\d+)([KMG]?)(?:i?B)?$/i.exec(text);
  const bytes = match ? Number(match[1]) * UNITS[match[2]!.toUpperCase()]! : 0;
  if (bytes < 16 * 2 ** 20 || bytes > 2 ** 31 || bytes % 2 ** 20 !== 0)
    throw new InvalidArgumentError('expected a RAM size from 16M to 2G, for example 256M');
  return bytes;
}

/** Number of harts; also QEMU's `cpus=N`. */
export function parseHarts(text: string): number {
  const match = /^(?:cpus=)?(\d+)$/.exec(text);
  const harts = match ? Number(match[1]) : 0;
  if (harts < 1 || harts > 8) throw new InvalidArgumentError('expected 1 to 8 harts');
  return harts;
}

/** QEMU's -cpu: a model and its properties. */
export function parseCpuModel(text: string): Extensions {
  try {
    return parseCpu(text);
  } catch (e) {
    if (!(e instanceof HostError)) throw e;
    throw new InvalidArgumentError(e.message.replace(`-cpu ${text}: `, ''));
  }
}

/** As `--schedule` takes it. */
export function parseOrder(text: string): Schedule {
  try {
    return parseSchedule(text);
  } catch (e) {
    if (!(e instanceof HostError)) throw e;
    throw new InvalidArgumentError(e.message.replace(`schedule "${text}": `, 'expected '));
  }
}

/** `[shift=]N` of QEMU's -icount: nanoseconds per instruction as a power of two. */
export function parseShift(text: string): number {
  const [, shift] = /^(?:shift=)?(\d{1,2})$/.exec(text) ?? [];
  if (!(Number(shift) <= ICOUNT_MAX)) throw new InvalidArgumentError(`expected 0 to ${ICOUNT_MAX}`);
  return Number(shift);
}

/** A positive count; underscores and 1e9 are allowed. */
export function parseCount(text: string): number {
  const value = Number(text.replaceAll('_', ''));
  if (value > Number.MAX_SAFE_INTEGER)
    throw new InvalidArgumentError(`expected a whole number of at most ${Number.MAX_SAFE_INTEGER}`);
  if (!Number.isInteger(value) || value < 1)
    throw new InvalidArgumentError('expected a positive whole number');
  return value;
}

/** A parser of 64 bits in hexadecimal, with or without 0x. `what`: for its message. */
const parseHex =
  (what: string) =>
  (text: string): bigint => {
    const [, digits] = /^(?:0x)?([0-9a-f]{1,16})$/i.exec(text) ?? [];
    if (digits === undefined) throw new InvalidArgumentError(`expected ${what}up to 16 hexadecimal digits`);
    return BigInt(`0x${digits}`);
  };
export const parseSeed = parseHex('');
export const parseAddress = parseHex('an address: ');

/** A parser of whole numbers from `least` to `most`. `what`: for its message ("seconds from "). */
export const parseWithin =
  (least: number, most: number, what = '') =>
  (text: string): number => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= least && value <= most))
      throw new InvalidArgumentError(`expected ${what}${least} to ${most}`);
    return value;
  };

/**
 * Per cent, with or without the sign. A number below 1 needs it, because 0.05 can be meant as a
 * share: 5 %.
 */
export function parsePercent(text: string): number {
  const [, number, sign] = /^(\d{1,3}(?:\.\d{1,6})?)(%?)$/.exec(text) ?? [];
  const percent = Number(number);
  if (!(percent > 0 && percent <= 100))
    throw new InvalidArgumentError('expected per cent, above 0 and at most 100: 5% or 5');
  if (percent < 1 && !sign)
    throw new InvalidArgumentError(
      `write ${number}%, or ${Number((percent * 100).toFixed(4))}% if it is a share`,
    );
  return percent;
}

/** `--sample` of the commands that repeat a part of results; per cent. `what`: of what. */
export const sampleOption = (what: string): Option =>
  new Option('--sample <percent>', `share of the ${what}, with or without %; at least one of them`)
    .argParser(parsePercent)
    .default(5, '5%');

export function parseRegex(text: string): RegExp {
  if (text === '') throw new InvalidArgumentError('the pattern is empty');
  try {
    return new RegExp(text);
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}

/** Compiler flags of --cflags: words between blanks. */
export const splitFlags = (text: string | undefined): string[] => text?.split(/\s+/).filter(Boolean) ?? [];

/**
 * A moment of a run: `first-instruction` of U-mode, `marker` or `marker:N` for one that the guest
 * marks, or units since power-on.
 */
export function parseMoment(text: string): Moment {
  if (text === 'first-instruction') return text;
  const [, number] = /^marker(?::(\d{1,5}))?$/.exec(text) ?? [];
  if (text === 'marker') return { mark: 'any' };
  if (number === undefined) {
    if (!/^\d/.test(text))
      throw new InvalidArgumentError(
        'expected first-instruction, marker, marker:N or a number of instructions and exceptions',
      );
    return parseCount(text);
  }
  if (Number(number) > 0xffff) throw new InvalidArgumentError('expected marker:N, 0 to 65535');
  return { mark: Number(number) };
}
