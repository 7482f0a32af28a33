// The catalogue of faults that any device can have, and how they are written: `edu:irq-drop@5`,
// `edu:late@3=2ms`, `edu:read-flip@2=0x7`. One row each; devices/faulty.ts does what the rows say,
// and run/faults/meanings.ts says it in words.

import { HostError } from '../base/errors.ts';

/** A counted event; the n-th has the fault. */
export type FaultEvent = 'irq' | 'access' | 'read' | 'write' | 'alarm' | 'dma-write' | 'dma-read';

interface Row {
  readonly event: FaultEvent;
  /** `=…` is possible: a time, with its default in nanoseconds. */
  readonly time?: number;
  /** Something is drawn, such as which bit is wrong; `=0x…` is possible: a seed of its own. */
  readonly draws?: true;
}

export const FAULT_KINDS = {
  'irq-drop': { event: 'irq' },
  'irq-late': { event: 'irq', time: 1e6 },
  'irq-double': { event: 'irq' },
  'irq-stuck': { event: 'irq' },
  'irq-spurious': { event: 'access', time: 1e4 },
  'read-ones': { event: 'read' },
  'read-zero': { event: 'read' },
  'read-flip': { event: 'read', draws: true },
  'read-any': { event: 'read', draws: true },
  'read-stuck': { event: 'read' },
  'bus-error': { event: 'access' },
  'write-drop': { event: 'write' },
  'write-twice': { event: 'write' },
  remove: { event: 'access' },
  reset: { event: 'access' },
  late: { event: 'alarm', time: 1e6 },
  never: { event: 'alarm' },
  'dma-drop': { event: 'dma-write' },
  'dma-short': { event: 'dma-write' },
  'dma-flip': { event: 'dma-write', draws: true },
  'dma-ones': { event: 'dma-write' },
  'dma-any': { event: 'dma-write', draws: true },
  'dma-misdirect': { event: 'dma-write' },
  'dma-read-zero': { event: 'dma-read' },
  'dma-read-flip': { event: 'dma-read', draws: true },
} as const satisfies Record<string, Row>;
export type FaultKind = keyof typeof FAULT_KINDS;

export interface Fault {
  /** Name of the device: `edu`, `virtio7`, or the one of a definition. */
  readonly device: string;
  readonly kind: FaultKind;
  /** 1 is the first event. */
  readonly at: number;
  /** Nanoseconds of virtual time. */
  readonly time: number;
  /** Of what is drawn, 32 bits; absent: the layer of the device draws on. */
  readonly seed?: number;
}

/** Faults that programs or campaigns may draw: a device, and the kinds that it may have. */
export interface FaultChoice {
  readonly device: string;
  readonly kinds: readonly FaultKind[];
}

const UNITS: Readonly<Record<string, number>> = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 };
/** Nanoseconds: 11 days, exact in all units. */
const TIME_MAX = 1e15;
/** The row of a kind. */
export const faultRow = (kind: FaultKind): Row => FAULT_KINDS[kind];
const ALL_KINDS = Object.keys(FAULT_KINDS) as FaultKind[];
/** Without the kind that no kernel can survive, because there is no IOMMU. */
export const USUAL_KINDS: readonly FaultKind[] = ALL_KINDS.filter(kind => kind !== 'dma-misdirect');
const isKind = (text: string): text is FaultKind => Object.hasOwn(FAULT_KINDS, text);

/** `DEVICE:KIND@N[=TIME],KIND@N...` as faults. Errors: HostError that says which part is wrong. */
export function parseFaults(text: string): Fault[] {
  const colon = text.indexOf(':');
  if (colon <= 0) throw new HostError(`fault "${text}": write it as DEVICE:KIND@N, such as edu:irq-drop@5`);
  const device = text.slice(0, colon);
  return text
    .slice(colon + 1)
    .split(',')
    .map(part => parseOne(device, part));
}

function parseOne(device: string, part: string): Fault {
  const [kind = ''] = /^[a-z-]*/.exec(part) ?? [];
  if (!isKind(kind)) throw unknownKind(device, part);
  const [match, n, amount, unit, digits] =
    /^(?:@(\d{1,9}))?(?:=(\d{1,18})(ns|us|ms|s)|=0x([0-9a-f]{1,8}))?$/.exec(part.slice(kind.length)) ?? [];
  if (match === undefined)
    throw new HostError(
      `fault ${device}:${part}: behind ${kind} comes @N, up to nine digits, then =TIME or =0xSEED, such as @5=20us`,
    );
  const row = faultRow(kind);
  const at = n === undefined ? 1 : Number(n);
  if (at < 1) throw new HostError(`fault ${device}:${part}: the first event is @1`);
  if (amount !== undefined && row.time === undefined)
    throw new HostError(`fault ${device}:${part}: ${kind} has no time`);
  if (digits !== undefined && !row.draws)
    throw new HostError(`fault ${device}:${part}: ${kind} draws nothing, so it has no seed`);
  const time = amount === undefined ? (row.time ?? 0) : Number(amount) * UNITS[unit!]!;
  if (time > TIME_MAX) throw new HostError(`fault ${device}:${part}: a time is at most ${TIME_MAX / 1e9} s`);
  return { device, kind, at, time, ...(digits !== undefined && { seed: Number.parseInt(digits, 16) }) };
}

const unknownKind = (device: string, part: string): HostError =>
  new HostError(`fault ${device}:${part}: the kinds are ${ALL_KINDS.join(', ')}`);

/** As `parseFaults` reads it. */
export function faultText({ device, kind, at, time, seed }: Fault): string {
  const row = faultRow(kind);
  const own = row.time !== undefined && time !== row.time ? `=${time}ns` : '';
  return `${device}:${kind}@${at}${own}${seed === undefined ? '' : `=0x${seed.toString(16)}`}`;
}

/**
 * `DEVICE[:KIND,KIND...]`: faults whose events somebody else draws. Without kinds: USUAL_KINDS.
 * Errors: HostError that says which part is wrong.
 */
export function parseFaultChoice(text: string): FaultChoice {
  const [, device, list] = /^([a-z][a-z0-9_]{0,23})(?::(.*))?$/.exec(text) ?? [];
  if (device === undefined)
    throw new HostError(`fault "${text}": write it as DEVICE or DEVICE:KIND,..., such as edu:irq-drop`);
  if (list === undefined) return { device, kinds: USUAL_KINDS };
  const kinds = list.split(',').map(part => {
    if (part.includes('@'))
      throw new HostError(`fault ${device}:${part}: the events are drawn; write it without @N`);
    if (!isKind(part)) throw unknownKind(device, part);
    return part;
  });
  return { device, kinds: [...new Set(kinds)] };
}
