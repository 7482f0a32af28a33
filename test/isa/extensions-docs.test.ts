// docs/isa.md is generated from the rows of the extensions:
// `npx vitest run test/isa/extensions-docs.test.ts -u` writes it.

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EXTENSIONS, type ExtensionRow } from '../../emulator/isa/extensions.ts';

function state({ presence, on }: ExtensionRow): string {
  if (presence === 'always') return 'always';
  if (presence === 'opposite') return 'option, off';
  return presence === 'absent' ? 'missing' : `option, ${on ? 'on' : 'off'}`;
}

const row = (one: ExtensionRow): string => `| ${one.name} | ${state(one)} | ${one.rva22} | ${one.doc} |`;

const missing = EXTENSIONS.filter(one => one.presence === 'absent' && one.rva22 === 'mandatory');

const MISSING = missing.map(one => one.name).join(', ') || 'nothing';

const TEXT = `# Extensions

This page is generated from \`emulator/isa/extensions.ts\` by \`test/isa/extensions-docs.test.ts\`.

\`-cpu rv64,zicond=on,zfa=off\` switches options; the words of an extension that is off are illegal
instructions. The models have QEMU's names:

* \`rv64\`, the default, has the rows that are always there and the options that are on. QEMU 10's
  \`rv64\` has the same, except that svinval, svnapot and svpbmt are off there and on here, and that
  it has H, zawrs and svvptc besides.
* \`rva22s64\` has the options that RVA22S64 demands. QEMU 10's also prints the letter B for zba, zbb
  and zbs, has the subextensions of H that concern an S-mode without guests, and has no Sv48 and no
  zihintntl.
* \`max\` has all options.
* \`rva22u64\` is refused: that hart has no supervisor mode.

\`test/machine/fdt.oracle.test.ts\` compares \`riscv,isa\` of the models with QEMU 10's. A hart without
svadu has Svade here; QEMU 10 needs \`svadu=off,svade=on\` for that.

The column RVA22 gives the requirement of the profile: RVA22U64 for unprivileged extensions, RVA22S64 for
the others. Mandatory in RVA22S64 and missing: ${MISSING}. The next step is V.

| extension | here | RVA22 | meaning |
| --- | --- | --- | --- |
${EXTENSIONS.map(row).join('\n')}

Both engines run every instruction from one rule, and the JIT compiles all of them but the system
instructions. A cache-block instruction whose page is not in the TLB, or which is not permitted,
leaves compiled code and is executed by the hart.
`;

test('docs/isa.md equals the rows', async () => {
  await expect(TEXT).toMatchFileSnapshot(join(import.meta.dirname, '../../docs/isa.md'));
});
