/* cpio.h: an archive while it is unpacked, for cpio.c and opt/links. */
#pragma once

#include "opt/paths/namei.h"
#include "optional.h"

/* Most bytes that a part of a member other than its contents may have. */
#define PART_MAX 0x8000

enum field {
    INO,
    MODE,
    UID,
    GID,
    NLINK,
    MTIME,
    FILESIZE,
    DEVMAJOR,
    DEVMINOR,
    RDEVMAJOR,
    RDEVMINOR,
    NAMESIZE,
    CHECK,
    FIELDS
};

struct member {
    u64 f[FIELDS];
    char *name; /* allocated */
};

/* The archive, from its start to its end: in memory, or in pieces that more() brings. */
struct archive {
    const u8 *at; /* the next byte */
    u64 ready;    /* bytes that can be read at `at` */
    u64 behind;   /* bytes that are not there yet */
    u64 offset, bytes;
    bool (*more)(struct archive *a, u64 n); /* makes n bytes ready; NULL: all are */
    u8 *window;                             /* of more() */
    struct hardlink *links;
};

int cpio_unpack(struct archive *a); /* a newc archive: 0, or -errno after a message */
/* Makes the next n bytes ready, n <= PART_MAX; false when there are fewer. */
bool cpio_fill(struct archive *a, u64 n);
const u8 *cpio_take(struct archive *a, u64 n); /* n of the ready bytes */

/* opt/links: hard links, members with one inode number, and symbolic links. */
/* 1: m is a link and made, *out is its inode; 0: no link; -errno. */
OPTIONAL(CONFIG_LINKS, int, cpio_make_link,
         (struct archive *a, struct walk *w, struct member *m, struct inode **out),
         S_ISLNK(m->f[MODE]) ? -ENOSYS : 0)
OPTIONAL(CONFIG_LINKS, void, cpio_remember_link,
         (struct archive *a, const struct member *m, struct inode *inode))
OPTIONAL(CONFIG_LINKS, void, cpio_forget_links, (struct archive *a))
