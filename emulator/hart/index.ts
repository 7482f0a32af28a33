// The public API of this module: everything that engines, machine and debuggers may use of a hart.

export * as cause from './cause.ts';
export { Hart } from './hart.ts';
export * as layout from './layout.ts';
export { type CodePort, type HartPorts, NO_CODE, type TableEffect } from './ports.ts';
export { fpHelper } from './softfloat.ts';
export { homeOf, State } from './state.ts';
export { CONTINUE, REDIRECT, WAIT } from './system.ts';
