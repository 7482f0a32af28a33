/*
 * tmpfs_options.c: the options of a tmpfs mount: size=, nr_blocks=, nr_inodes=, mode=, uid=, gid=
 * (tmpfs(5)). Sizes take k, m or g, and size= also a percentage of RAM.
 */
#include "abi/errno.h"
#include "alloc.h"
#include "klib.h"
#include "opt/mounts/mounts.h"

/* A number with an optional unit; *end is behind it. */
static u64 number(const char *text, int base, const char **end)
{
    u64 value = strtou64(text, end, base);

    switch (**end) {
    case 'g':
    case 'G':
        value <<= 10; /* fall through */
    case 'm':
    case 'M':
        value <<= 10; /* fall through */
    case 'k':
    case 'K':
        value <<= 10;
        ++*end;
    }
    return value;
}

static u64 bytes_of(const char *text, const char **end)
{
    u64 value = number(text, 0, end);

    if (**end != '%')
        return value;
    ++*end;
    return pages_total_count() * PAGE_SIZE / 100 * value;
}

/* Applies one option, whose value must end at end. */
static int apply(struct tmpfs_options *o, const char *name, u64 length, const char *value,
                 const char *end)
{
    const char *stop = value;

    if (!strncmp(name, "size", length) && length == 4)
        o->pages = ALIGN_UP(bytes_of(value, &stop), PAGE_SIZE) >> PAGE_SHIFT;
    else if (!strncmp(name, "nr_blocks", length) && length == 9)
        o->pages = number(value, 0, &stop);
    else if (!strncmp(name, "nr_inodes", length) && length == 9)
        o->inodes = number(value, 0, &stop);
    else if (!strncmp(name, "mode", length) && length == 4)
        o->mode = (u32)strtou64(value, &stop, 8) & 07777;
    else if (!strncmp(name, "uid", length) && length == 3)
        o->uid = (u32)strtou64(value, &stop, 0);
    else if (!strncmp(name, "gid", length) && length == 3)
        o->gid = (u32)strtou64(value, &stop, 0);
    return stop == end && stop > value ? 0 : -EINVAL;
}

int tmpfs_parse(const char *text, struct tmpfs_options *o)
{
    while (*text) {
        const char *end = text, *value;

        while (*end && *end != ',')
            end++;
        for (value = text; value < end && *value != '='; value++)
            ;
        if (value == end || apply(o, text, (u64)(value - text), value + 1, end))
            return -EINVAL;
        text = *end ? end + 1 : end;
    }
    return 0;
}
