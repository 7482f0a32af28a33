/* list.h: the entries of a directory, one after the other. */
#pragma once

#include "types.h"

/* Receives directory entries for getdents64 or another reader; put returns false when full. */
struct dir_sink {
    bool (*put)(struct dir_sink *sink, const char *name, u64 ino, u32 mode, i64 next_pos);
};
