// The messages between <kcovbox-run> and the page in its frame. Anybody may send one to either, so
// each checks the sender and the form.

/** To the page. */
export type ToFrame =
  | { readonly kcovbox: 'capsule'; readonly name: string; readonly bytes: Uint8Array }
  | { readonly kcovbox: 'failed'; readonly text: string };

/** To the element: the page waits for a capsule, or its sentence about the run. */
export type FromFrame =
  | { readonly kcovbox: 'waiting' }
  | { readonly kcovbox: 'verdict'; readonly text: string };

const fieldsOf = (data: unknown): Readonly<Record<string, unknown>> =>
  typeof data === 'object' && data !== null ? (data as Record<string, unknown>) : {};

/** For people to read. */
const isLine = (text: unknown): boolean => typeof text === 'string' && text.length <= 2000;

export function isToFrame(data: unknown): data is ToFrame {
  const { kcovbox, name, bytes, text } = fieldsOf(data);
  if (kcovbox === 'failed') return isLine(text);
  return kcovbox === 'capsule' && isLine(name) && bytes instanceof Uint8Array;
}

export function isFromFrame(data: unknown): data is FromFrame {
  const { kcovbox, text } = fieldsOf(data);
  return kcovbox === 'waiting' || (kcovbox === 'verdict' && isLine(text));
}
