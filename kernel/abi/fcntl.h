/* Flags and modes of files that only options read; the others are in include/fs.h. */
#pragma once

#define S_IFSOCK 0140000
#define S_ISUID  0004000
#define S_ISGID  0002000
#define S_ISVTX  0001000

#define O_DSYNC     00010000
#define O_ASYNC     00020000
#define O_LARGEFILE 00100000
#define O_NOFOLLOW  00400000
#define O_PATH      010000000
#define O_TMPFILE   (020000000 | O_DIRECTORY)

#define AT_REMOVEDIR      0x200
#define AT_SYMLINK_FOLLOW 0x400
