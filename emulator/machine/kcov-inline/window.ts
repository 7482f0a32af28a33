// kcov's fields of the hart window, among those that the engine leaves to the machine.

import { RECORD } from '../../../devices/kcov-layout.ts';
import type { Gate } from '../../engine/retired.ts';
import { MACHINE_COUNT, MACHINE_POINTER } from '../../hart/layout.ts';

/** i32: host address of the current kcov context, 0 = none; see devices/kcov.ts. */
export const KCOV_CURRENT = MACHINE_POINTER;
/** i64: records that compiled code stored or lost without the device, as of its last exit. */
export const KCOV_RECORDS = MACHINE_COUNT;

/**
 * Open while the hart's context, whose first word is its mode, records PCs. A hook leaves a record
 * under the same condition (kernel/kcov/hooks.S), so counts and records can be compared.
 */
export const WHILE_RECORDING: Gate = { pointer: KCOV_CURRENT, bits: RECORD.ANY_PC };
