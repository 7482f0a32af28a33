/* internal.h: shared by mount.c and opt/mounts. */
#pragma once

#include "fs.h"

extern struct mount *mounts; /* oldest first; (fs_lock) */
void super_drop(struct super *sb);
/* opt/directories: the directory at becomes *which, the current one or the root; takes over at. */
long change_to(struct path *at, struct path *which);
