// Errors of the operating system in words: Node's own texts begin with the name of a number.

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or folder',
  EACCES: 'permission denied',
  EPERM: 'not permitted',
  EEXIST: 'a file of this name is there',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of its path is not a folder',
  ENOTEMPTY: 'the folder is not empty',
  ENOSPC: 'no space left on the device',
  EDQUOT: 'the quota is used up',
  EROFS: 'the file system is read-only',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open',
  ELOOP: 'too many symbolic links',
  ENAMETOOLONG: 'the name is too long',
  ETXTBSY: 'it is being executed',
  EBUSY: 'it is in use',
  EIO: 'the device failed',
  EFBIG: 'the file would be too large',
  ENOMEM: 'no memory is left',
  ENXIO: 'it cannot be opened as a file',
  EADDRINUSE: 'it is in use',
};

/** The beginning of a sentence about a call, by its name. */
const CALLS: Readonly<Record<string, string>> = {
  open: 'cannot open',
  read: 'cannot read',
  write: 'cannot write',
  close: 'cannot write',
  mkdir: 'cannot make the folder',
  mkdtemp: 'cannot make the folder',
  scandir: 'cannot read the folder',
  rename: 'cannot rename',
  copyfile: 'cannot copy',
  unlink: 'cannot remove',
  rm: 'cannot remove',
  rmdir: 'cannot remove the folder',
  stat: 'cannot find',
  lstat: 'cannot find',
  access: 'cannot reach',
  utime: 'cannot touch',
};

/** The reason in words; undefined for a code that is not in the list. */
export const systemReason = (code: string | undefined): string | undefined => REASONS[code ?? ''];

/** One line about an error of a system call: the call, the file, the reason. */
export function systemMessage(error: NodeJS.ErrnoException): string {
  const { code, syscall = '', path = '', message } = error;
  const reason = systemReason(code);
  if (syscall === 'uv_cwd') return 'the current folder is no longer there; change to another one (cd)';
  if (reason === undefined) return message;
  const call = syscall.startsWith('spawn') ? 'cannot start' : (CALLS[syscall] ?? `cannot ${syscall}`);
  return syscall === '' ? message : `${[call, path].filter(Boolean).join(' ')}: ${reason}`;
}
