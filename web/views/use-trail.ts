// The places at which the reader was, in order, to go back to: a question such as "who wrote this?"
// leads far away.
import { useEffect, useRef } from 'preact/hooks';
import type { Focus, Opened } from '../protocol.ts';
import type { Followed } from './place.ts';
import type { Shown } from './shown.ts';

/** Moment, frame, datum and line. */
export interface Spot {
  readonly unit: number;
  readonly hart: number;
  readonly level: number;
  readonly shown: Shown | undefined;
  readonly datum: Followed | undefined;
}

const SPOTS_MAX = 500;

/** Answers with the place before the present one, or the one behind it; undefined: none. */
export function useTrail(
  opened: Opened | undefined,
  focus: Focus | undefined,
  shown: Shown | undefined,
  datum: Followed | undefined,
): (by: 1 | -1) => Spot | undefined {
  const trail = useRef<{ spots: Spot[]; at: number }>({ spots: [], at: -1 });
  useEffect(() => {
    trail.current = { spots: [], at: -1 };
  }, [opened]);
  useEffect(() => {
    if (!focus) return;
    const { spots, at } = trail.current;
    const { unit, hart, level } = focus;
    const spot = { unit, hart, level, shown, datum };
    if (JSON.stringify(spot) === JSON.stringify(spots[at])) return;
    const kept = [...spots.slice(0, at + 1), spot].slice(-SPOTS_MAX);
    trail.current = { spots: kept, at: kept.length - 1 };
  }, [focus, shown, datum]);
  return by => {
    const { spots, at } = trail.current;
    const spot = spots[at + by];
    if (spot) trail.current = { spots, at: at + by };
    return spot;
  };
}
