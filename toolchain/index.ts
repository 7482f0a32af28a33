// The public API of toolchain/: building the guest kernel and guest programs on the host.
export {
  cacheDir,
  cached,
  markUsed,
  objectDir,
  packageRoot,
  readInputs,
  writeWhole,
} from './cache.ts';
export { clangIdentity, clangVersion, findTool, requireTool, type Tool, which } from './compilers.ts';
export { confinedFlags } from './confined.ts';
export { type CpioEntry, writeCpio } from './cpio.ts';
export { tieTools } from './ending.ts';
export { CompileError, ToolchainError } from './errors.ts';
export { makeFolders, makeWritable } from './folders.ts';
export { md5, RunningSha256, sha256, sha256OfParts } from './hash.ts';
export { buildKernel, DIALECTS, type Dialect, hasPrebuiltKernels, kernelConfigs } from './kernel.ts';
export { nameOfKey } from './name-of-key.ts';
export { APT_INSTALL, DEBIAN } from './packages.ts';
export { prebuiltKernels, prebuiltPage } from './prebuilt.ts';
export { buildProgram, type ProgramOptions, requireBuildTools } from './program.ts';
export { type CacheEntry, cacheEntries, cacheFolders, keepNewest, pruneCache } from './prune.ts';
export { quoted } from './shell.ts';
export { standardError, tell } from './standard-error.ts';
export { buildConfined, type Sources } from './student.ts';
export { systemMessage, systemReason } from './system-errors.ts';
export { shortened, temporaryPath, unfinished } from './temporary.ts';
export { makeTemporaryFolder, removeTemporaryFolder } from './temporary-folder.ts';
export { GLIBC_ROOT, hasGlibc, runTool } from './tools.ts';
export { canLimit, forbiddenDirective } from './untrusted.ts';
export { buildXv6, buildXv6Program, withRepro, type Xv6Images } from './xv6.ts';
export { hashOfXv6, readXv6Tree, type Xv6Tree, xv6Syscalls } from './xv6-tree.ts';
