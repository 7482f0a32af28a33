// A QEMU that knows every extension of the instruction table: this machine's, or one that
// setup/fetch-qemu.mjs fetches.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ALL_EXTENSIONS, qemuCpu } from '../../../emulator/index.ts';
import { runnerOf } from './qemu.ts';

/** Undefined when it can not be had; why has been printed then. */
export const QEMU_NEW = fetchQemu();

function fetchQemu(): string | undefined {
  const script = join(import.meta.dirname, '../../../setup/fetch-qemu.mjs');
  const { status, stdout, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
  if (status === 0) return stdout.trim();
  console.warn(`skipped: a QEMU with newer extensions: ${stderr.trim()}`);
  return undefined;
}

/**
 * Compare with `kcovboxRunner(engine, 'max')`: every extension that we have, and none that we lack.
 */
export const newQemuRunner = runnerOf('new qemu', QEMU_NEW, qemuCpu(ALL_EXTENSIONS, 10));
