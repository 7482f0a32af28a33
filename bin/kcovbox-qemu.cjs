#!/usr/bin/env node
// `kcovbox boot` under another name, for Makefiles that start qemu-system-riscv64: make
// QEMU=kcovbox-qemu qemu. They also ask for the version and for the list of options; the answers
// have QEMU's form. The version is that of the QEMU with which the tests compare.
'use strict';
const { spawnSync } = require('node:child_process');
const { join } = require('node:path');

const COMMAND = join(__dirname, 'kcovbox.cjs');
const words = process.argv.slice(2);
const asks = names => words.some(word => names.includes(word));

/** The output of a `kcovbox boot` with this option, with `edit` applied; ends the process. */
function print(option, edit) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [COMMAND, 'boot', option], { encoding: 'utf8' });
  process.stderr.write(stderr);
  if (status === 0) process.stdout.write(edit(stdout));
  process.exitCode = status;
}

if (asks(['-version', '--version']))
  print('-version', text => `QEMU emulator version 7.2.0 (look-alike: kcovbox ${text.trim()})\n`);
else if (asks(['-h', '-help', '--help'])) print('--help-qemu', text => text.replace(/^ +/gm, ''));
else {
  process.argv.splice(2, 0, 'boot');
  require(COMMAND);
}
