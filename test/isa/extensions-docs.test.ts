// docs/isa.md is generated from the rows of the extensions: `npx vitest run test/isa/extensions-docs.test.ts -u` writes it.

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EXTENSIONS, type ExtensionRow } from '../../emulator/isa/extensions.ts';

function state({ presence, on }: ExtensionRow): string {
  if (presence === 'always') return 'always';
  return presence === 'absent' ? 'missing' : `option, ${on ? 'on' : 'off'}`;
}

const row = (one: ExtensionRow): string => `| ${one.name} | ${state(one)} | ${one.rva22} | ${one.doc} |`;

const missing = EXTENSIONS.filter(one => one.presence === 'absent' && one.rva22 === 'mandatory');

const TEXT = `# Extensions

This page is generated from \`emulator/isa/extensions.ts\` by \`test/isa/extensions-docs.test.ts\`.

\`-cpu rv64\` has the rows that are always there and the options that are on, as QEMU 10's \`rv64\` has. \`-cpu max\` has
all of them. \`-cpu rv64,zicond=on,zfa=off\` switches options; words of an extension that is off are illegal instructions.
The column RVA22 says what the profile asks for: RVA22U64 for unprivileged extensions, RVA22S64 for the others.
Mandatory in RVA22S64 and missing: ${missing.map(one => one.name).join(', ') || 'nothing'}. A hart of the profile is
\`-cpu rv64,zfhmin=on,zkt=on,svadu=off\`. The next step is V.

| extension | here | RVA22 | what it is |
| --- | --- | --- | --- |
${EXTENSIONS.map(row).join('\n')}

Both engines run every instruction from one rule, and the JIT compiles all of them but the system instructions. A cache-block
instruction whose page is not in the TLB, or which is not permitted, leaves compiled code and is executed by the hart.
`;

test('docs/isa.md is what the rows say', async () => {
  await expect(TEXT).toMatchFileSnapshot(join(import.meta.dirname, '../../docs/isa.md'));
});
