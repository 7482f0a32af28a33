// The catalogue of faults that any device can have, and how they are written: `edu:irq-drop@5`,
// `edu:late@3=2ms`. One row each; devices/faulty.ts does what the rows say.

import { HostError } from '../base/errors.ts';

/** A counted event; the n-th has the fault. */
export type FaultEvent = 'irq' | 'access' | 'read' | 'write' | 'alarm' | 'dma-write' | 'dma-read';

interface Row {
  readonly event: FaultEvent;
  readonly doc: string;
  /** `=…` is possible: a time, with its default in nanoseconds. */
  readonly time?: number;
}

export const FAULT_KINDS = {
  'irq-drop': { event: 'irq', doc: 'the interrupt does not arrive' },
  'irq-late': { event: 'irq', time: 1e6, doc: 'the interrupt arrives later' },
  'irq-double': { event: 'irq', doc: 'after it was acknowledged the interrupt comes again, without a cause' },
  'irq-stuck': { event: 'irq', doc: 'from then on the interrupt line stays high until it is raised again' },
  'irq-spurious': { event: 'access', time: 1e4, doc: 'an interrupt without a cause, for some time' },
  'read-ones': { event: 'read', doc: 'the read answers with all ones' },
  'read-zero': { event: 'read', doc: 'the read answers with 0' },
  'read-flip': { event: 'read', doc: 'one bit of the answer is wrong' },
  'read-any': { event: 'read', doc: 'the answer is another value that the register can have' },
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
  'dma-flip': { event: 'dma-write', doc: 'one bit that reaches memory is wrong' },
  'dma-ones': { event: 'dma-write', doc: 'all ones reach memory: indexes and lengths out of range' },
  'dma-any': { event: 'dma-write', doc: 'numbers in what reaches memory are any others' },
  'dma-misdirect': { event: 'dma-write', doc: 'the transfer goes to the next page' },
  'dma-read-zero': { event: 'dma-read', doc: 'the device reads zeros from memory' },
  'dma-read-flip': { event: 'dma-read', doc: 'one bit of what the device reads from memory is wrong' },
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
}

const UNITS: Readonly<Record<string, number>> = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 };
/** The row of a kind: its event and its meaning. */
export const faultRow = (kind: FaultKind): Row => FAULT_KINDS[kind];

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
  if (!Object.hasOwn(FAULT_KINDS, kind))
    throw new HostError(`fault ${device}:${part}: the kinds are ${Object.keys(FAULT_KINDS).join(', ')}`);
  const [match, n, amount, unit] =
    /^(?:@(\d{1,9}))?(?:=(\d{1,9})(ns|us|ms|s))?$/.exec(part.slice(kind.length)) ?? [];
  if (match === undefined)
    throw new HostError(
      `fault ${device}:${part}: behind ${kind} comes @N, up to nine digits, then =TIME, such as @5=20us`,
    );
  const row = faultRow(kind as FaultKind);
  const at = n === undefined ? 1 : Number(n);
  if (at < 1) throw new HostError(`fault ${device}:${part}: the first event is @1`);
  if (amount !== undefined && row.time === undefined)
    throw new HostError(`fault ${device}:${part}: ${kind} has no time`);
  const time = amount === undefined ? (row.time ?? 0) : Number(amount) * UNITS[unit!]!;
  return { device, kind: kind as FaultKind, at, time };
}

/** As `parseFaults` reads it. */
export function faultText({ device, kind, at, time }: Fault): string {
  const row = faultRow(kind);
  return `${device}:${kind}@${at}${row.time !== undefined && time !== row.time ? `=${time}ns` : ''}`;
}
