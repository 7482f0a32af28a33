// The catalogue of faults that any device can have, and how they are written: `edu:irq-drop@5`,
// `edu:late@3=2ms`, `edu:read-flip@2=0x7`. One row each; devices/faulty.ts does what the rows say.

import { HostError } from '../base/errors.ts';

/** A counted event; the n-th has the fault. */
export type FaultEvent = 'irq' | 'access' | 'read' | 'write' | 'alarm' | 'dma-write' | 'dma-read';

interface Row {
  readonly event: FaultEvent;
  readonly doc: string;
  /** `=…` is possible: a time, with its default in nanoseconds. */
  readonly time?: number;
  /** Something is drawn, such as which bit is wrong; `=0x…` is possible: a seed of its own. */
  readonly draws?: true;
}

export const FAULT_KINDS = {
  'irq-drop': { event: 'irq', doc: 'the interrupt does not arrive' },
  'irq-late': { event: 'irq', time: 1e6, doc: 'the interrupt arrives later' },
  'irq-double': { event: 'irq', doc: 'after it was acknowledged the interrupt comes again, without a cause' },
  'irq-stuck': { event: 'irq', doc: 'from then on the interrupt line stays high until it is raised again' },
  'irq-spurious': { event: 'access', time: 1e4, doc: 'an interrupt without a cause, for some time' },
  'read-ones': { event: 'read', doc: 'the read answers with all ones' },
  'read-zero': { event: 'read', doc: 'the read answers with 0' },
  'read-flip': { event: 'read', draws: true, doc: 'one bit of the answer is wrong' },
  'read-any': { event: 'read', draws: true, doc: 'the answer is another value that the register can have' },
  'read-stuck': { event: 'read', doc: 'this register answers the same from then on: status never ready' },
  'bus-error': { event: 'access', doc: 'the access is an access fault' },
  'write-drop': { event: 'write', doc: 'the write has no effect' },
  'write-twice': { event: 'write', doc: 'the write happens twice' },
  remove: {
    event: 'access',
    doc: 'surprise removal: reads are all ones, writes, DMA and interrupts nothing',
  },
  reset: { event: 'access', doc: 'the device resets itself before the access' },
  late: { event: 'alarm', time: 1e6, doc: 'what the device does by itself it does later' },
  never: { event: 'alarm', doc: 'what the device would do by itself it does not do' },
  'dma-drop': { event: 'dma-write', doc: 'the transfer to memory does not happen' },
  'dma-short': { event: 'dma-write', doc: 'only the first half reaches memory' },
  'dma-flip': { event: 'dma-write', draws: true, doc: 'one bit that reaches memory is wrong' },
  'dma-ones': { event: 'dma-write', doc: 'all ones reach memory: indexes and lengths out of range' },
  'dma-any': { event: 'dma-write', draws: true, doc: 'numbers in what reaches memory are any others' },
  'dma-misdirect': { event: 'dma-write', doc: 'the transfer goes to the next page' },
  'dma-read-zero': { event: 'dma-read', doc: 'the device reads zeros from memory' },
  'dma-read-flip': {
    event: 'dma-read',
    draws: true,
    doc: 'one bit of what the device reads from memory is wrong',
  },
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
/** The row of a kind: its event and its meaning. */
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
