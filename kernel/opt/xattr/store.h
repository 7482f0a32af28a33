/* store.h: extended attributes in memory. */
#pragma once

#include "fs/tmpfs_node.h"

#define XATTR_CREATE    1 /* -EEXIST if it exists */
#define XATTR_REPLACE   2 /* -ENODATA if it does not */
#define XATTR_NAME_MAX  255
#define XATTR_SIZE_MAX  65536
#define XATTR_INODE_MAX (2 * XATTR_SIZE_MAX) /* names and values of one file */

struct xattr {
    struct xattr *next;
    u64 size;
    char name[XATTR_NAME_MAX + 1];
    char value[];
};

/* Takes x; 0, or -errno and x stays the caller's. */
int xattrs_set(struct xattrs *all, struct xattr *x, u32 flags);
int xattrs_remove(struct xattrs *all, const char *name);
/* The length of a value; with size != 0 also copies it (-ERANGE: it is longer). */
i64 xattrs_get(const struct xattrs *all, const char *name, void *buf, u64 size);
/* The same for all names, each with its NUL; trusted: also those that only the superuser sees. */
i64 xattrs_list(const struct xattrs *all, bool trusted, char *buf, u64 size);
void xattrs_free(struct xattrs *all);
/* The part of a name behind a prefix such as "user.", or NULL. */
const char *xattr_suffix(const char *name, const char *prefix);
