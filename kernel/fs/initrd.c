/*
 * initrd.c: unpacks the initial archive in a kernel without the option PATHS: directories and
 * files, without their owners and times.
 *
 * Format "newc" (cpio(5)): per member a header of 110 ASCII characters - "070701", then 13 fields
 * of 8 hexadecimal digits - the name with its NUL, and the contents, each padded to 4 bytes. The
 * member "TRAILER!!!" ends an archive; several archives may follow one another, with zeros between
 * them.
 */
#include "abi/errno.h"
#include "alloc.h"
#include "boot.h"
#include "fs.h"
#include "klib.h"

#ifndef CONFIG_PATHS

#define HEADER_BYTES 110

struct member {
    u64 mode, links, size;
    const char *name;
    const u8 *contents;
};

/* One field of a header, by its number; false if it is not a number. */
static bool field(const u8 *header, int number, u64 *value)
{
    char digits[9] = "";
    const char *end;

    memcpy(digits, header + 6 + number * 8, 8);
    *value = strtou64(digits, &end, 16);
    return !*end;
}

/* The member at p, with so many bytes left; the bytes it takes, 0 if it is damaged. */
static u64 parse(const u8 *p, u64 left, struct member *m)
{
    u64 name_size, start;

    if (left < HEADER_BYTES || memcmp(p, "070701", 6) || !field(p, 1, &m->mode) ||
        !field(p, 4, &m->links) || !field(p, 6, &m->size) || !field(p, 11, &name_size))
        return 0;
    start = ALIGN_UP(HEADER_BYTES + name_size, 4);
    if (name_size - 1 >= PATH_LEN_MAX || start + m->size > left || p[HEADER_BYTES + name_size - 1])
        return 0;
    m->name = (const char *)p + HEADER_BYTES;
    m->contents = p + start;
    return MIN(ALIGN_UP(start + m->size, 4), left);
}

/*
 * Makes the missing directories in front of a name; archives made by hand often lack them. Goes
 * down one by one, because walks from the root would cost the square of the length of the name.
 */
static void make_parents(const char *name)
{
    char *path = kstrdup(name);
    struct path at = {0}, below;

    for (char *p = path, *end; path && (end = strchr(p, '/')); p = end + 1) {
        *end = 0;
        if (!*p)
            continue;
        if (path_make(at.inode ? &at : NULL, p, S_IFDIR | 0755, &below) < 0)
            break;
        path_put(&at);
        at = below;
    }
    path_put(&at);
    kfree(path);
}

static int unpack(const struct member *m)
{
    struct path at;
    struct iter contents;
    i64 n = (i64)m->size;
    int err;

    /* An empty file of several names has its contents in a later member. */
    if (S_ISLNK(m->mode) || (S_ISREG(m->mode) && m->links > 1 && !m->size))
        return -ENOSYS;
    make_parents(m->name);
    err = path_make(NULL, m->name, (u32)m->mode, &at);
    if (err < 0)
        return err;
    if (S_ISREG(m->mode) && S_ISREG(at.inode->mode)) {
        page_cache_free(at.inode); /* a later member replaces an earlier one */
        at.inode->size = 0;
        iter_kernel(&contents, (void *)m->contents, m->size);
        mutex_lock(&at.inode->lock);
        n = page_cache_write(at.inode, &contents, 0);
        mutex_unlock(&at.inode->lock);
    }
    if ((at.inode->mode ^ m->mode) & S_IFMT)
        kprintf("initrd: %s stays what it is, a later member is of another kind\n", m->name);
    path_put(&at);
    return n < 0 ? (int)n : n < (i64)m->size ? -ENOSPC : 0;
}

int initrd_unpack(void)
{
    const u8 *p = initrd_start;
    struct member m;
    int err;

    for (u64 left = initrd_size, n; left; p += n, left -= n) {
        n = *p ? parse(p, left, &m) : 1;
        if (!n) {
            kprintf("initrd: no member at offset 0x%lx\n", initrd_size - left);
            return -EINVAL;
        }
        err = *p && strcmp(m.name, "TRAILER!!!") ? unpack(&m) : 0;
        if (err) {
            kprintf("initrd: can not unpack %s: errno %d\n", m.name, -err);
            return err;
        }
    }
    return 0;
}

#endif
