/* xattr.h: the extended attributes of a file, as its inode keeps them. */
#pragma once

#include "types.h"
#include "optional.h"

/* Zeroed: none. Callers hold the inode's lock. */
struct xattrs {
    struct xattr *first; /* sorted by name */
    u64 bytes;           /* names and values */
};
OPTIONAL(CONFIG_XATTR, void, xattrs_free, (struct xattrs *all))
