// The resources that a call of some type takes.
import type { CallType, Direction, Resource, Type } from '../language/types.ts';

export function resourcesTaken(type: CallType): Set<Resource> {
  const found = new Set<Resource>();
  const see = (t: Type, direction: Direction): void => {
    if (t.kind === 'resource' && direction !== 'out') found.add(t.resource);
    else if (t.kind === 'pointer') see(t.to, t.direction);
    else if (t.kind === 'array') see(t.of, direction);
    else if (t.kind === 'struct') for (const field of t.struct.fields) see(field.type, direction);
  };
  for (const field of type.args) see(field.type, 'in');
  return found;
}
