/* xattr.h: the extended attributes of a file, as its inode keeps them. */
#pragma once

#include "types.h"

/* Zeroed: none. Callers hold the inode's lock. */
struct xattrs {
    struct xattr *first; /* sorted by name */
    u64 bytes;           /* names and values */
};
#ifdef CONFIG_XATTR
void xattrs_free(struct xattrs *all);
#else
static inline void xattrs_free(struct xattrs *all) {}
#endif
