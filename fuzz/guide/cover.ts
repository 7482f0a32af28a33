// Few sets that have all elements: which programs of a corpus are enough.

/**
 * Indices of sets, in ascending order, that together have all elements, and of which none can be
 * left out. `sets`: each without repeated elements. The set that adds most is chosen first; of
 * equal ones the one with the least cost, then the first. Finding the fewest is NP-hard (set
 * cover); these are at most 1 + ln(n) times as many, for sets of n elements.
 */
export function smallCover(sets: readonly (readonly number[])[], costs: readonly number[]): number[] {
  const left = new Set<number>();
  for (const set of sets) for (const element of set) left.add(element);
  const gainOf = (index: number): number => sets[index]!.filter(element => left.has(element)).length;
  // The number of elements that a set adds only falls: a set that adds fewer than it did waits.
  const most = sets.reduce((length, set) => Math.max(length, set.length), 0);
  const waiting = Array.from({ length: most + 1 }, (): number[] => []);
  for (const [index, { length }] of sets.entries()) waiting[length]!.push(index);
  const chosen: number[] = [];
  for (let gain = waiting.length - 1; gain > 0; gain--)
    for (const index of waiting[gain]!.sort((a, b) => costs[a]! - costs[b]! || a - b)) {
      const now = gainOf(index);
      if (now < gain) {
        waiting[now]!.push(index);
        continue;
      }
      chosen.push(index);
      for (const element of sets[index]!) left.delete(element);
    }
  return withoutSpare(sets, chosen).sort((a, b) => a - b);
}

/** Without those whose elements others have, too; the last chosen ones are looked at first. */
function withoutSpare(sets: readonly (readonly number[])[], chosen: readonly number[]): number[] {
  const times = new Map<number, number>();
  const add = (index: number, by: number): void => {
    for (const element of sets[index]!) times.set(element, (times.get(element) ?? 0) + by);
  };
  for (const index of chosen) add(index, 1);
  return chosen.toReversed().filter(index => {
    const isSpare = sets[index]!.every(element => times.get(element)! > 1);
    if (isSpare) add(index, -1);
    return !isSpare;
  });
}
