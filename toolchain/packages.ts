// Names of the tools in package managers.

/** Packages of Debian and Ubuntu by what they bring. */
export const DEBIAN = {
  clang: 'clang-19',
  ld: 'lld-19',
  nm: 'llvm-19',
  make: 'make',
  glibc: 'libc6-dev-riscv64-cross libgcc-12-dev-riscv64-cross',
  qemu: 'qemu-system-misc',
  bwrap: 'bubblewrap',
} as const;

export const APT_INSTALL = 'apt-get install';
