/* filelock.h: advisory record locks (fcntl) and whole-file locks (flock). */
#pragma once

#include "abi/errno.h"
#include "file.h"
#include "optional.h"

/* Last reference: its flock locks. */
OPTIONAL(CONFIG_FILELOCK, void, filelock_release_file, (struct file *f))
/* Any close: owner's record locks. */
OPTIONAL(CONFIG_FILELOCK, void, filelock_release_owner, (struct file *f, void *owner))
