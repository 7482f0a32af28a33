// The keys of the page: one table, from which the page acts and shows its help.
import type { Motion } from '../protocol.ts';

/** The actions of keys, apart from motions. */
export type Act =
  | 'begin'
  | 'end'
  | 'event-before'
  | 'event-next'
  | 'output-before'
  | 'output-next'
  | 'back'
  | 'again'
  | 'line-before'
  | 'line-next'
  | 'breakpoint'
  | 'moments'
  | 'moment-before'
  | 'moment-next'
  | 'caller'
  | 'callee'
  | 'wrote'
  | 'writes'
  | 'datum'
  | 'unit'
  | 'files'
  | 'functions'
  | 'calls'
  | 'zoom-in'
  | 'zoom-out'
  | 'zoom-all'
  | 'help';

export interface MotionKey extends Motion {
  readonly key: string;
  readonly label: string;
  readonly title: string;
}

export const MOTIONS: readonly MotionKey[] = [
  { way: 'continue', direction: 'back', key: 'C', label: '↞', title: 'back to the breakpoint before' },
  { way: 'next', direction: 'back', key: 'N', label: '←', title: 'to the line before, over calls' },
  { way: 'step', direction: 'back', key: 'S', label: '↖', title: 'to the line before, into calls' },
  { way: 'instruction', direction: 'back', key: 'I', label: '‹', title: 'one instruction back' },
  { way: 'instruction', direction: 'forward', key: 'i', label: '›', title: 'one instruction' },
  { way: 'step', direction: 'forward', key: 's', label: '↘', title: 'to the next line, into calls' },
  { way: 'next', direction: 'forward', key: 'n', label: '→', title: 'to the next line, over calls' },
  { way: 'continue', direction: 'forward', key: 'c', label: '↠', title: 'to the next breakpoint' },
  { way: 'finish', direction: 'back', key: 'F', label: '↥', title: 'back to the call of this function' },
  { way: 'finish', direction: 'forward', key: 'f', label: '↧', title: 'out of this function' },
];

export interface ActKey {
  readonly act: Act;
  readonly key: string;
  readonly title: string;
}

export const ACTS: readonly ActKey[] = [
  { act: 'begin', key: '<', title: 'to the beginning of the program' },
  { act: 'end', key: '>', title: 'to the end of the run' },
  { act: 'event-before', key: '[', title: 'to the event before' },
  { act: 'event-next', key: ']', title: 'to the next event' },
  { act: 'output-before', key: '(', title: 'to the line of output before' },
  { act: 'output-next', key: ')', title: 'to the next line of output' },
  { act: 'back', key: 'z', title: 'back to where you were' },
  { act: 'again', key: 'Z', title: 'forth again' },
  { act: 'line-before', key: 'k', title: 'the line above in the source' },
  { act: 'line-next', key: 'j', title: 'the line below in the source' },
  { act: 'breakpoint', key: 'b', title: 'a breakpoint at the line, or none' },
  { act: 'moments', key: 'm', title: 'the moments at which the line ran' },
  { act: 'moment-before', key: ',', title: 'to the moment of the line before this one' },
  { act: 'moment-next', key: '.', title: 'to the next moment of the line' },
  { act: 'caller', key: 'p', title: 'looks at the caller' },
  { act: 'callee', key: 'q', title: 'looks at the function called' },
  { act: 'datum', key: 'd', title: 'a datum to follow: a variable, an expression, $register' },
  { act: 'wrote', key: 'w', title: 'who wrote the datum?' },
  { act: 'writes', key: 'W', title: 'who writes the datum next?' },
  { act: 'unit', key: 'u', title: 'a unit to go to' },
  { act: 'files', key: '1', title: 'files of the kernel' },
  { act: 'functions', key: '2', title: 'functions of the kernel' },
  { act: 'calls', key: '3', title: 'calls of a system call' },
  { act: 'zoom-in', key: '+', title: 'time axis: nearer, around the moment' },
  { act: 'zoom-out', key: '-', title: 'time axis: farther' },
  { act: 'zoom-all', key: '=', title: 'time axis: the whole run' },
  { act: 'help', key: '?', title: 'these keys' },
];

const titles = new Map(ACTS.map(({ act, title }) => [act, title]));
const keys = new Map(ACTS.map(({ act, key }) => [act, key]));

/** The attributes of a button that does the same as a key. */
export const attributesOf = (act: Act) => ({
  title: `${titles.get(act)} (${keys.get(act)})`,
  'aria-label': titles.get(act)!,
  'aria-keyshortcuts': keys.get(act)!,
});
