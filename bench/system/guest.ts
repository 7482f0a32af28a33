// The files of a system workload: kernel, initial file system, command line.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  buildKernel,
  type CpioEntry,
  cached,
  packageRoot,
  quoted,
  sha256OfParts,
  writeCpio,
} from '../../toolchain/index.ts';
import type { OwnProgram, SystemKernel, SystemWork } from './phases.ts';
import { entriesOf } from './tree.ts';

/** RAM of the machine, in QEMU's notation and in MiB. */
export const SYSTEM_RAM_MIB = 256;

const guests = (): string => join(packageRoot(), '.cache', 'guests');
const busybox = (): string => join(guests(), 'bin', 'busybox');
const programs = (): string => join(guests(), 'programs');
const debian = (): string => join(guests(), 'linux', 'Image');

/** The reason why this machine cannot run it; undefined if it can. */
export function missingGuest({ kernel, programs: wanted }: SystemWork): string | undefined {
  if (!existsSync(busybox())) return 'no busybox: node setup/fetch-guests.mjs';
  if (kernel === 'debian' && !existsSync(debian()))
    return 'no Debian kernel: node setup/fetch-guests.mjs --linux';
  const absent = wanted?.find(name => !existsSync(join(programs(), 'usr', 'bin', name)));
  return absent && `no ${absent}: node setup/fetch-guests.mjs --programs`;
}

/** Where the user's program is in the guest. */
const OWN = '/bin/own';

const LINKS = '/bin/busybox mkdir -p /bin /tmp; /bin/busybox --install -s /bin';

/**
 * It may print its own times, so the exit status is the check value. One that the shell cannot
 * start (126, 127), or that a signal ends (128 and above), has no figure.
 */
const workOf = ({ args }: OwnProgram): readonly string[] => [
  LINKS,
  'echo begin',
  `${[OWN, ...args].map(quoted).join(' ')} > /tmp/output 2>&1 < /dev/null`,
  'status=$?; [ $status -lt 126 ] || { echo "exit status $status"; exit; }',
  'echo "end $(printf %016x $status)"',
];

/** The first process. The digest is computed behind the second mark's cost, from a short text. */
function initOf({ kernel, prepare, script, own }: SystemWork): string {
  const work = own
    ? workOf(own)
    : script === undefined
      ? ['echo begin', 'echo "end 0000000000000000"']
      : [
          LINKS,
          prepare ?? ':',
          'echo begin',
          `out=$(${script}) || exit`, // without the second mark there is no figure
          'echo "end $(echo "$out" | md5sum | head -c 16)"',
        ];
  return [
    '#!/bin/busybox sh',
    'export PATH=/bin:/usr/bin',
    ...work,
    `/bin/busybox ${kernel === 'own' ? 'sleep 1000' : 'poweroff -f'}`,
    '',
  ].join('\n');
}

/** The programs, and all libraries. */
const programFiles = (wanted: readonly string[]): readonly CpioEntry[] =>
  entriesOf(programs(), path => !/^(usr\/)?s?bin\//.test(path) || wanted.includes(path.split('/').at(-1)!));

/** What QEMU and kcovbox boot alike: the options of both commands. */
export async function systemGuest(work: SystemWork): Promise<readonly string[]> {
  const text = new TextEncoder().encode(initOf(work));
  const files = [
    ...(work.programs
      ? programFiles(work.programs)
      : [{ path: 'bin', mode: 0o40755, data: new Uint8Array() }]),
    { path: 'tmp', mode: 0o41777, data: new Uint8Array() },
    { path: 'init', mode: 0o100755, data: text },
    { path: 'bin/busybox', mode: 0o100755, data: readFileSync(busybox()) },
    ...(work.own ? [{ path: OWN.slice(1), mode: 0o100755, data: readFileSync(work.own.path) }] : []),
  ];
  const archive = writeCpio(files);
  const { path } = await cached(
    'bench',
    sha256OfParts('system', archive),
    { label: 'initrd' },
    async output => {
      writeFileSync(output, archive);
      return [busybox()];
    },
  );
  return [
    '-m',
    `${SYSTEM_RAM_MIB}M`,
    '-kernel',
    await kernelOf(work.kernel),
    '-initrd',
    path,
    '-append',
    APPEND[work.kernel],
  ];
}

const APPEND: Readonly<Record<SystemKernel, string>> = {
  own: 'init=/init',
  debian: 'console=ttyS0 no4lvl quiet',
};

const kernelOf = async (kernel: SystemKernel): Promise<string> =>
  kernel === 'debian' ? debian() : (await buildKernel('linux')).path;
