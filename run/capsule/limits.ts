// Limits of what a capsule holds. A module of its own, because the recorder needs them before it
// needs the rest.

/** Bytes of the console that are kept; the hash is of all of them. */
export const CONSOLE_KEPT = 2 ** 20;
/** Bytes of input: a device keeps in memory what the guest has not read yet. */
export const INPUT_MAX = 2 ** 26;
/** Images of -device loader. */
export const LOADS_MAX = 8;
/** Slots for virtio devices, so also drives. */
export const SLOTS = 8;
