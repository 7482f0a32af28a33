// The page in a frame of <kcovbox-run> (web/element/).
import { type FromFrame, isToFrame, type ToFrame } from '../element/messages.ts';

const send = (message: FromFrame): void => {
  // Any page may embed this one; the sentence is no secret.
  if (parent !== window) parent.postMessage(message, '*');
};

export const tellVerdict = (text: string): void => send({ kcovbox: 'verdict', text });

/** Asks for a capsule, and hands over what comes. The answer ends it. */
export function awaitCapsule(take: (message: ToFrame) => void): () => void {
  const heard = ({ source, data }: MessageEvent): void => {
    if (source === parent && parent !== window && isToFrame(data)) take(data);
  };
  addEventListener('message', heard);
  send({ kcovbox: 'waiting' });
  return () => removeEventListener('message', heard);
}

/** A frame whose text is in its element (srcdoc) may not, and some browsers not so often. */
export function writeAddress(way: 'pushState' | 'replaceState', url: string): void {
  try {
    history[way](null, '', url);
  } catch {}
}
