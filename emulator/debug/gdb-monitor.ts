// GDB's `monitor` commands: the places of the run, and who stored last.

import { HostError } from '../base/errors.ts';
import type { Hart } from '../hart/index.ts';
import { translate } from './guest-memory.ts';
import type { Timeline } from './timeline/timeline.ts';

const HELP = `monitor position                  where the run is: units since power-on
monitor seek N|+N|-N|start|end    go there; then type: maintenance flush register-cache
                                  and: maintenance flush dcache
monitor last-write ADDR BYTES     the last store to this memory before now
`;

/** The text for the user. `hart`: in whose view addresses are. */
export function monitor(timeline: Timeline, hart: Hart, line: string): string {
  const [command = '', ...words] = line.trim().split(/\s+/);
  try {
    if (command === 'position' && words.length === 0) return place(timeline);
    if (command === 'seek' && words.length === 1) return seek(timeline, words[0]!);
    if (command === 'last-write' && words.length === 2)
      return lastWrite(timeline, hart, words[0]!, words[1]!);
  } catch (error) {
    if (error instanceof HostError) return `${error.message}\n`;
    throw error;
  }
  return HELP;
}

function place({ machine, position, first, latest }: Timeline): string {
  const { turn } = machine.scheduler;
  const pc = machine.harts[turn]!.state.pc.toString(16);
  return `unit ${position} of ${first} to ${latest}: hart ${turn}, pc 0x${pc}\n`;
}

function seek(timeline: Timeline, word: string): string {
  const [, sign, digits] = /^([+-]?)(\d{1,15})$/.exec(word) ?? [];
  let unit = Number(digits);
  if (word === 'start') unit = timeline.first;
  else if (word === 'end') unit = Number.MAX_SAFE_INTEGER;
  else if (digits === undefined) return HELP;
  else if (sign === '+') unit = timeline.position + unit;
  else if (sign === '-') unit = timeline.position - unit;
  if (!timeline.isRecorded && unit > timeline.latest) unit = timeline.latest;
  timeline.seek(unit);
  return place(timeline);
}

function lastWrite(timeline: Timeline, hart: Hart, address: string, size: string): string {
  const va = /^(0x[0-9a-f]{1,16}|\d{1,20})$/i.test(address) ? BigInt(address) : undefined;
  const bytes = /^\d{1,7}$/.test(size) ? Number(size) : undefined;
  if (va === undefined || bytes === undefined) return HELP;
  const pa = translate(timeline.machine, hart, va);
  if (pa === undefined) return `nothing is mapped at ${address}\n`;
  const store = timeline.lastWrite(pa, bytes);
  if (!store) return `nothing stored there since unit ${timeline.first}\n`;
  const who = store.by === 'device' ? 'a device, while ' : '';
  return `unit ${store.unit}: ${who}hart ${store.hart}, pc 0x${store.pc.toString(16)}, ${store.bytes} bytes\n`;
}
