// The hostile twin of a device: the same device behind a layer that makes faults at events that a
// seed chooses, of all kinds of the catalogue. Below the layer the real model runs, so that the
// twin reaches deep states of a driver before it lies. Each seed has a rate and a subset of the
// kinds of its own: a mix of all kinds at one rate would always fail at the first register, and
// never at the interplay of two kinds (swarm testing, Groce et al., ISSTA 2012).

import { HostError } from '../base/errors.ts';
import { FAULT_KINDS, type FaultEvent, type FaultKind } from './fault-kinds.ts';

/** A device that is hostile. */
export interface Hostile {
  readonly device: string;
  /** 32 bits. */
  readonly seed: number;
  /** DMA may also go where the driver does not expect it: see STRAYING. */
  readonly misdirects: boolean;
}

/** How a seed behaves: plain data, a part of the layer's state. */
export interface Temper {
  /** One of so many events has a fault. */
  readonly rate: number;
  readonly kinds: readonly FaultKind[];
  /** Interrupts without an event before them that are still to come. */
  pulses: number;
}

/** A number below n. */
type Below = (n: number) => number;

const RATES = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128];
/** Faults that end all others are this much rarer. */
const RARE: Partial<Record<FaultKind, number>> = { remove: 16, reset: 4, 'bus-error': 2 };
const PULSES_MAX = 32;
/** Times are 1 us times a power of two below this: up to 131 ms. */
const TIME_BITS = 17;
/**
 * After one of these the model may move data where the driver no longer expects it: to an address
 * that was misread, or after a command to stop that it never saw. Without an IOMMU no kernel can
 * survive that, so a twin does it only when asked.
 */
const STRAYING: readonly FaultKind[] = [
  'dma-misdirect',
  'dma-read-zero',
  'dma-read-flip',
  'write-drop',
  'bus-error',
];

/** `DEVICE[:SEED][:misdirect]`. Errors: HostError. */
export function parseHostile(text: string): Hostile {
  const [, device = '', digits, misdirect] =
    /^([a-z][a-z0-9_]*)(?::(\d{1,10}))?(:misdirect)?$/.exec(text) ?? [];
  const seed = digits === undefined ? 1 : Number(digits);
  if (device === '' || seed >= 2 ** 32)
    throw new HostError(`hostile "${text}": write it as DEVICE:SEED, a number below 2^32, such as edu:7`);
  return { device, seed, misdirects: misdirect !== undefined };
}

/** As `parseHostile` reads it. */
export const hostileText = ({ device, seed, misdirects }: Hostile): string =>
  `${device}:${seed}${misdirects ? ':misdirect' : ''}`;

/** The behaviour of a seed. */
export function temperOf({ misdirects }: Hostile, below: Below): Temper {
  const all = (Object.keys(FAULT_KINDS) as FaultKind[]).filter(k => misdirects || !STRAYING.includes(k));
  const rate = RATES[below(RATES.length)]!;
  const share = 1 + below(4);
  const kinds = all.filter(() => below(4) < share);
  return { rate, kinds, pulses: below(2) * below(PULSES_MAX) };
}

/** The fault that an event has, if it has one. */
export function drawFault(event: FaultEvent, { rate, kinds }: Temper, below: Below): FaultKind | undefined {
  if (below(rate) !== 0) return undefined;
  const fitting = kinds.filter(kind => FAULT_KINDS[kind].event === event);
  const kind = fitting[below(Math.max(1, fitting.length))];
  return kind !== undefined && below(RARE[kind] ?? 1) === 0 ? kind : undefined;
}

/** Nanoseconds, short ones as often as long ones. */
export const drawTime = (below: Below): number => 1000 * 2 ** below(TIME_BITS) + below(1000);

/**
 * Any number of so many bytes: those at which drivers go wrong more often than others. `known`: the
 * values that the register's declared fields can have.
 */
export function drawValue(bytes: number, right: number, known: readonly number[], below: Below): number {
  const word = (): number => below(2 ** 16) * 2 ** 16 + below(2 ** 16);
  const power = 2 ** below(32);
  const choices = [word(), power, power - 1, right + 1, right - 1, 0xffff_ffff, 0x8000_0000, right];
  const value = known.length > 0 && below(2) === 0 ? known[below(known.length)]! : choices[below(8)]!;
  return (value >>> 0) % 2 ** (8 * Math.min(bytes, 4));
}
