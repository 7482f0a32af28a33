/* current.h: the directories of the calling process, and the calls that change them. */
#pragma once

#include "fs.h"

/* Of the calling process; the kernel's own in kernel threads, and without opt/directories. */
OPTIONAL(CONFIG_DIRECTORIES, struct fsctx *, current_fs, (void), &kernel_fs)

/* The directory at becomes *which, the current one or the root; takes over at. */
long change_to(struct path *at, struct path *which);
