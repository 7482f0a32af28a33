/* path_string.h: the absolute path of a directory. */
#pragma once

#include "fs.h"

int path_string(const struct path *path, char *buf, u64 n);
int path_string_locked(const struct path *path, char *buf, u64 n); /* (fs_lock) */
