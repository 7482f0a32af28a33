/*
 * xattr_store.c: the extended attributes of a file in memory: a sorted list, as XATTR_INODE_MAX
 * keeps it short.
 */
#include "opt/xattr/store.h"
#include "abi/errno.h"
#include "alloc.h"
#include "klib.h"

static struct xattr **find(struct xattrs *all, const char *name)
{
    struct xattr **x = &all->first;

    while (*x && strcmp((*x)->name, name) < 0)
        x = &(*x)->next;
    return x;
}

static struct xattr *is_it(struct xattr *x, const char *name)
{
    return x && !strcmp(x->name, name) ? x : NULL;
}

static u64 bytes_of(const struct xattr *x)
{
    return x ? strlen(x->name) + 1 + x->size : 0;
}

int xattrs_set(struct xattrs *all, struct xattr *x, u32 flags)
{
    struct xattr **at = find(all, x->name), *old = is_it(*at, x->name);
    u64 bytes = all->bytes - bytes_of(old) + bytes_of(x);

    if (old && flags & XATTR_CREATE)
        return -EEXIST;
    if (!old && flags & XATTR_REPLACE)
        return -ENODATA;
    if (bytes > XATTR_INODE_MAX)
        return -ENOSPC;
    x->next = old ? old->next : *at;
    *at = x;
    all->bytes = bytes;
    kfree(old);
    return 0;
}

int xattrs_remove(struct xattrs *all, const char *name)
{
    struct xattr **at = find(all, name), *old = is_it(*at, name);

    if (!old)
        return -ENODATA;
    *at = old->next;
    all->bytes -= bytes_of(old);
    kfree(old);
    return 0;
}

i64 xattrs_get(const struct xattrs *all, const char *name, void *buf, u64 size)
{
    const struct xattr *x = is_it(*find((struct xattrs *)all, name), name);

    if (!x)
        return -ENODATA;
    if (size && size < x->size)
        return -ERANGE;
    if (size)
        memcpy(buf, x->value, x->size);
    return (i64)x->size;
}

i64 xattrs_list(const struct xattrs *all, bool trusted, char *buf, u64 size)
{
    u64 len = 0;

    for (const struct xattr *x = all->first; x; x = x->next) {
        u64 n = strlen(x->name) + 1;

        if (!trusted && xattr_suffix(x->name, "trusted."))
            continue;
        if (size && len + n > size)
            return -ERANGE;
        if (size)
            memcpy(buf + len, x->name, n);
        len += n;
    }
    return (i64)len;
}

void xattrs_free(struct xattrs *all)
{
    while (all->first) {
        struct xattr *x = all->first;

        all->first = x->next;
        kfree(x);
    }
    all->bytes = 0;
}

const char *xattr_suffix(const char *name, const char *prefix)
{
    u64 n = strlen(prefix);

    return strncmp(name, prefix, n) ? NULL : name + n;
}
