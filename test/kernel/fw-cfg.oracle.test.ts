// The kernel takes its program and words through fw_cfg: on QEMU's device as on ours, and as from
// RAM.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CpioEntry, findTool, hasGlibc, writeCpio } from '../../toolchain/index.ts';
import { QEMU_NEW } from '../support/oracle/qemu-new.ts';
import { withScratch } from '../support/tools.ts';
import { initrd, kernel, program, run, runQemu } from './boot.ts';

// QEMU 7.2 has the device on this board, and refuses files for it.
const ready = hasGlibc() && findTool('clang') !== undefined && QEMU_NEW !== undefined;
if (!ready) console.warn('skipped: clang-19, libc6-dev-riscv64-cross and QEMU 10 are needed');

const EXECUTABLE = 0o100755;
const WORDS = 'init=/bin/files env.A=b -- one "two words"';
const none = initrd({});

/** Archives around the windows of 64 KiB through which the kernel reads. */
async function archives(): Promise<Record<string, Uint8Array>> {
  const files: CpioEntry = { path: 'bin/files', mode: EXECUTABLE, data: await program('tests/files.c') };
  const filler = (bytes: number): CpioEntry => ({
    path: `filler${bytes}`,
    mode: 0o100644,
    data: new Uint8Array(bytes).fill(0x2a),
  });
  const link = { path: 'link', mode: 0o120777, data: new TextEncoder().encode('bin/files') };
  const whole = writeCpio([files]);
  return {
    'a program': whole,
    'sizes around a window': writeCpio([0, 1, 65_535, 65_536, 65_537, 131_071].map(filler).concat(files)),
    'a link': writeCpio([link, files]),
    'two archives with zeros between them': Buffer.concat([
      writeCpio([filler(100_001)]),
      new Uint8Array(70_000),
      whole,
    ]),
    'a damaged end': Buffer.concat([whole, new TextEncoder().encode('this is no header, nor zeros')]),
    'nothing to execute': writeCpio([filler(7)]),
  };
}

describe.skipIf(!ready)('fw_cfg', () => {
  it('gives the kernel the same program here, on QEMU and in RAM', { timeout: 300_000 }, async () => {
    const elf = await kernel('linux');
    for (const [what, archive] of Object.entries(await archives())) {
      const fwCfg = [
        { name: 'opt/kcovbox/cmdline', bytes: new TextEncoder().encode(WORDS) },
        { name: 'opt/kcovbox/initrd', bytes: archive },
      ];
      const here = run(elf, none, 'kcov=guest', { kcov: 'off', fwCfg });
      expect(here.text.length, what).toBeGreaterThan(20);
      const inRam = run(elf, archive, `kcov=guest ${WORDS}`, { kcov: 'off' });
      expect({ ...here, instret: 0 }, what).toEqual({ ...inRam, instret: 0 });
      const there = withScratch(dir => {
        const more = fwCfg.flatMap(({ name, bytes }, i) => {
          const path = join(dir, `${i}`);
          writeFileSync(path, bytes);
          return ['-fw_cfg', `name=${name},file=${path}`];
        });
        return runQemu(QEMU_NEW!, elf, none, 'kcov=guest', more);
      });
      const lines = (text: string) => text.split('\n').filter(line => /^(ok|not ok|init|initrd)/.test(line));
      expect(lines(there), what).toEqual(lines(here.text));
      expect(lines(here.text).length, what).toBeGreaterThan(0);
    }
  });
});
