// The Debian/Ubuntu packages that kcovbox needs beyond Node and git, each with the command or file
// that proves that it is installed. `need` names a command on PATH, or a file when it starts with
// '/'. `names` are tried in order, because releases differ (libgcc-12 on bookworm, libgcc-14 on
// trixie).

/** To compile the guest kernel and guest programs. */
export const BUILD = [
  { need: 'clang-19', names: ['clang-19'] },
  { need: 'ld.lld-19', names: ['lld-19'] },
  { need: 'llvm-nm-19', names: ['llvm-19'] },
  { need: 'make', names: ['make'] },
  { need: '/usr/riscv64-linux-gnu/lib/libc.a', names: ['libc6-dev-riscv64-cross'] },
  {
    need: '/usr/lib/gcc-cross/riscv64-linux-gnu',
    names: ['libgcc-14-dev-riscv64-cross', 'libgcc-13-dev-riscv64-cross', 'libgcc-12-dev-riscv64-cross'],
  },
];

/** The checks of the sources. */
export const CHECKS = [{ need: 'clang-format-19', names: ['clang-format-19'] }];

/** The independent judges of the test suite. */
export const ORACLES = [
  { need: 'qemu-system-riscv64', names: ['qemu-system-riscv', 'qemu-system-misc'] },
  { need: 'qemu-riscv64', names: ['qemu-user'] },
  { need: '/usr/lib/riscv64-linux-gnu/opensbi/generic/fw_jump.elf', names: ['opensbi'] },
  { need: '/usr/lib/x86_64-linux-gnu/libunicorn.so.2', names: ['libunicorn2'], archs: ['x64'] },
  { need: 'dtc', names: ['device-tree-compiler'] },
  { need: 'lcov', names: ['lcov'] },
  { need: 'gdb-multiarch', names: ['gdb-multiarch'] },
  { need: 'xmllint', names: ['libxml2-utils'] },
  { need: 'chromium', names: ['chromium'] },
  { need: 'bwrap', names: ['bubblewrap'] }, // no judge: the tests of grading in a sandbox
];
