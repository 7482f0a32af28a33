/*
 * notify.h: reports of events of inodes, for inotify and for EVFILT_VNODE of kqueue.
 *
 * The bits are those of inotify(7); bits 24 to 26 are for kqueue only. Code that changes a file
 * calls one of the notify functions, which without watchers only test whether a list is empty.
 */
#pragma once

#include "fs.h"
#include "optional.h"

#define NOTIFY_ACCESS      0x0001u
#define NOTIFY_MODIFY      0x0002u
#define NOTIFY_ATTRIB      0x0004u
#define NOTIFY_CLOSE_WRITE 0x0008u
#define NOTIFY_CLOSE_READ  0x0010u
#define NOTIFY_OPEN        0x0020u
#define NOTIFY_MOVED_FROM  0x0040u
#define NOTIFY_MOVED_TO    0x0080u
#define NOTIFY_CREATE      0x0100u
#define NOTIFY_DELETE      0x0200u
#define NOTIFY_DELETE_SELF 0x0400u
#define NOTIFY_MOVE_SELF   0x0800u
#define NOTIFY_ALL         0x0fffu
#define NOTIFY_EXTEND      0x01000000u /* with MODIFY: the file has grown */
#define NOTIFY_LINK        0x02000000u /* with ATTRIB: the number of links has changed */
#define NOTIFY_TRUNCATE    0x04000000u /* with MODIFY: by truncation */
#define NOTIFY_ISDIR       0x40000000u

OPTIONAL(CONFIG_NOTIFY, void, notify_inode, (struct inode *inode, u32 mask))
OPTIONAL(CONFIG_NOTIFY, void, notify_entry,
         (struct inode *dir, const char *name, u32 mask, u32 cookie))
/* The inode, and its directory by the file's name. */
OPTIONAL(CONFIG_NOTIFY, void, notify_file, (struct file *f, u32 mask))
/* Only the directory. */
OPTIONAL(CONFIG_NOTIFY, void, notify_dir_of, (const struct file *f, u32 mask))
/* Tells the directory in which a path ends that a call has just used with these AT_* flags. */
OPTIONAL(CONFIG_NOTIFY, void, notify_dir_of_path,
         (int dirfd, u64 user_path, u32 at_flags, u32 mask))
/* A new one, which joins MOVED_FROM and MOVED_TO. */
OPTIONAL(CONFIG_NOTIFY, u32, notify_cookie, (void), 0)
