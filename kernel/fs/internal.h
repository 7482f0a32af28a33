/* internal.h: shared by mount.c and opt/mounts. */
#pragma once

#include "fs.h"

extern struct mount *mounts; /* oldest first; (fs_lock) */
void super_drop(struct super *sb);
const struct fs_type *fs_find_type(const char *name); /* or 0 */
/* where: the absolute path of at, for /proc/mounts. */
int fs_mount_at(const struct path *at, const char *source, const char *where, const char *type,
                u32 flags, const char *data);
/* opt/directories: the directory at becomes *which, the current one or the root; takes over at. */
long change_to(struct path *at, struct path *which);
