/* xattr.h: a file's extended attributes in memory, for file systems that keep them there. */
#pragma once

#include "types.h"

#define XATTR_CREATE    1 /* -EEXIST when it is there */
#define XATTR_REPLACE   2 /* -ENODATA when it is not */
#define XATTR_NAME_MAX  255
#define XATTR_SIZE_MAX  65536
#define XATTR_INODE_MAX (2 * XATTR_SIZE_MAX) /* names and values of one file */

struct xattr {
    struct xattr *next;
    u64 size;
    char name[XATTR_NAME_MAX + 1];
    char value[];
};

/* Zeroed: none. The owner serializes the calls. */
struct xattrs {
    struct xattr *first; /* by name */
    u64 bytes;
};

/* Takes x; 0, or -errno and x stays the caller's. */
int xattrs_set(struct xattrs *all, struct xattr *x, u32 flags);
int xattrs_remove(struct xattrs *all, const char *name);
/* The length; with size != 0 also the value (-ERANGE: it is longer). */
i64 xattrs_get(const struct xattrs *all, const char *name, void *buf, u64 size);
/* The names, each with its zero; trusted: also those that only the superuser sees. */
i64 xattrs_list(const struct xattrs *all, bool trusted, char *buf, u64 size);
void xattrs_free(struct xattrs *all);
/* The part of a name behind a prefix as "user.", or 0. */
const char *xattr_suffix(const char *name, const char *prefix);
