// The end of this process while it builds something: its tools end with it, and its folders among
// the temporary files go.

/** Signals whose default action would end us and leave that behind. */
const FATAL = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;

type Act = (signal: NodeJS.Signals) => void;

let areTied = false;

/**
 * From now on a signal that ends us ends the tools too, and so does our exit. For commands; a
 * library has no handlers.
 */
export function tieTools(): void {
  areTied = true;
}

/** Has `tieTools` been called? */
export const isTied = (): boolean => areTied;

const acts = new Set<Act>();

/** The last one first: a tool ends before the folder goes in which it works. */
function actAll(signal: NodeJS.Signals): void {
  for (const act of [...acts].reverse()) act(signal);
}

function forget(): void {
  for (const name of FATAL) process.off(name, onFatal);
  process.off('exit', onExit);
}

function onFatal(signal: NodeJS.Signals): void {
  actAll(signal);
  for (const name of FATAL) process.off(name, onFatal);
  // With no handler left this is what the signal would have done; with one, that handler decides.
  if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
}

const onExit = (): void => actAll('SIGTERM');

/**
 * Calls `act` when this process exits, and where `isTied`, before a signal ends it. Returns a
 * function after which it is not called any more.
 */
export function atEnd(act: Act): () => void {
  if (acts.size === 0) {
    if (areTied) for (const name of FATAL) process.on(name, onFatal);
    process.on('exit', onExit);
  }
  acts.add(act);
  return () => {
    acts.delete(act);
    if (acts.size === 0) forget();
  };
}
