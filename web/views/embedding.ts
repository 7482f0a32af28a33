// The page in a frame of <kcovbox-run> (web/element/).
import { type FromFrame, isToFrame, type ToFrame } from '../element/messages.ts';

const send = (message: FromFrame): void => {
  // Any page may embed this one; the sentence is no secret.
  if (parent !== window) parent.postMessage(message, '*');
};

export const tellVerdict = (text: string): void => send({ kcovbox: 'verdict', text });

/** Asks for a capsule, and hands over the first one that comes, or why none does. */
export function awaitCapsule(take: (message: ToFrame) => void): void {
  const heard = ({ source, data }: MessageEvent): void => {
    if (source !== parent || parent === window || !isToFrame(data)) return;
    // Any page may be around this one, and send as much as it likes.
    removeEventListener('message', heard);
    take(data);
  };
  addEventListener('message', heard);
  send({ kcovbox: 'waiting' });
}

/** A frame whose text is in its element (srcdoc) may not, and some browsers not so often. */
export function writeAddress(way: 'pushState' | 'replaceState', url: string): void {
  try {
    history[way](null, '', url);
  } catch {}
}
