/*
 * cpio.c: unpacks the initial archive into the root file system.
 *
 * Format "newc" (cpio(5)): per member a header of 110 ASCII characters - "070701", then 13 fields
 * of 8 hexadecimal digits - the name with its NUL, and the contents, each padded to 4 bytes. The
 * member "TRAILER!!!" ends an archive; several archives may follow one another, with zero padding
 * between them. Hard links are members with the same inode number; the last has the contents.
 *
 * Not modelled: compression, checksums (070702 is read, but its sum is not checked).
 */
#include "opt/paths/cpio.h"
#include "abi/errno.h"
#include "alloc.h"
#include "boot.h"
#include "klib.h"
#include "opt/paths/namei.h"

#define HEADER_BYTES 110

bool cpio_fill(struct archive *a, u64 n)
{
    return a->ready >= n || (a->more && a->more(a, n));
}

const u8 *cpio_take(struct archive *a, u64 n)
{
    const u8 *p = a->at;

    a->at += n;
    a->ready -= n;
    a->offset += n;
    return p;
}

/* Up to the next multiple of 4. */
static void take_padding(struct archive *a)
{
    u64 n = -a->offset & 3;

    if (cpio_fill(a, n))
        cpio_take(a, n);
}

static bool parse_fields(const char *p, u64 *f)
{
    for (int i = 0; i < FIELDS; i++) {
        u64 v = 0;

        for (int d = 0; d < 8; d++) {
            char c = p[6 + i * 8 + d];

            if (c >= '0' && c <= '9')
                v = v * 16 + c - '0';
            else if ((c | 32) >= 'a' && (c | 32) <= 'f')
                v = v * 16 + (c | 32) - 'a' + 10;
            else
                return false;
        }
        f[i] = v;
    }
    return true;
}

/*
 * Reads header and name of the next member, in front of its contents; false after a message if the
 * archive is damaged there.
 */
static bool parse_member(struct archive *a, struct member *m)
{
    u64 start = a->offset, size;
    const char *p;

    if (!cpio_fill(a, HEADER_BYTES) || memcmp(a->at, "07070", 5) ||
        (a->at[5] != '1' && a->at[5] != '2') || !parse_fields((const char *)a->at, m->f)) {
        kprintf("initrd: no cpio header at offset 0x%lx\n", start);
        return false;
    }
    cpio_take(a, HEADER_BYTES);
    size = m->f[NAMESIZE];
    if (!size || size > PART_MAX || !cpio_fill(a, size) || a->at[size - 1] ||
        m->f[FILESIZE] > a->ready + a->behind - size) {
        kprintf("initrd: truncated member at offset 0x%lx of 0x%lx\n", start, a->bytes);
        return false;
    }
    p = (const char *)cpio_take(a, size);
    m->name = kstrdup(p);
    take_padding(a);
    return m->name != NULL;
}

static void set_attributes(struct inode *inode, const struct member *m)
{
    inode->uid = m->f[UID];
    inode->gid = m->f[GID];
    inode->mode = (inode->mode & S_IFMT) | (m->f[MODE] & 07777);
    inode->mtime = inode->atime = inode->ctime = (struct timespec64){.sec = m->f[MTIME]};
}

/* n bytes of the archive, to the inode where there is one. */
static int write_contents(struct archive *a, struct inode *inode, u64 n)
{
    int err = 0;

    for (u64 pos = 0; pos < n;) {
        struct iter it;
        u64 some;
        i64 written;

        if (!cpio_fill(a, 1))
            return -EINVAL;
        some = MIN(a->ready, n - pos);
        iter_kernel(&it, (void *)cpio_take(a, some), some);
        if (inode && !err) {
            mutex_lock(&inode->lock);
            written = page_cache_write(inode, &it, (i64)pos);
            mutex_unlock(&inode->lock);
            err = written < 0 ? (int)written : written < (i64)some ? -ENOSPC : 0;
        }
        pos += some;
    }
    return err;
}

static void make_directory(const struct path *base, const char *name)
{
    struct walk *w = kmalloc(sizeof(*w));
    struct inode *made = NULL;

    if (!w)
        return;
    mutex_lock(&fs_lock);
    if (!walk_begin(w, base, name) && !walk_run(w, WALK_PARENT))
        w->at.inode->ops->create(w->at.inode, w->name, S_IFDIR | 0755, 0, &made);
    walk_end(w);
    mutex_unlock(&fs_lock);
    if (made)
        inode_put(made);
    kfree(w);
}

/* From the place *at to the directory name in it, which is made if it is missing. */
static bool go_down(struct path *at, const char *name)
{
    const struct path *base = at->inode ? at : NULL;
    struct path below = {0};

    if (path_walk(base, name, WALK_FOLLOW, &below) == -ENOENT) {
        make_directory(base, name);
        path_walk(base, name, WALK_FOLLOW, &below);
    }
    path_put(at);
    *at = below;
    return at->inode;
}

/*
 * Makes the missing directories in front of a name; archives made by hand often lack them. Goes
 * down one by one, because walks from the root would cost the square of the length of the name.
 */
static void make_parents(const char *name)
{
    char *path = kstrdup(name), *last = path ? strrchr(path, '/') : NULL;
    struct path at = {0};

    if (last > path) {
        *last = 0;
        if (path_walk(NULL, path, WALK_FOLLOW, &at) == -ENOENT)
            for (char *next, *p = path; p; p = next) {
                next = strchr(p, '/');
                if (next)
                    *next++ = 0;
                if (*p && !go_down(&at, p))
                    break;
            }
        path_put(&at);
    }
    kfree(path);
}

/* The walk has reached the directory. Makes or finds the node; *out has one reference. */
static int make_node(struct archive *a, struct walk *w, struct member *m, struct inode **out)
{
    struct inode *dir = w->at.inode;
    u32 mode = (u32)m->f[MODE];
    int err = walk_lookup(w, out);

    if (!err && S_ISDIR((*out)->mode) && S_ISDIR(mode))
        return 0;
    if (!err) { /* a later member replaces an earlier one */
        dir->ops->unlink(dir, w->name, *out);
        inode_put(*out);
        *out = NULL;
    }
    err = cpio_make_link(a, w, m, out);
    if (err)
        return err < 0 ? err : 0;
    err = dir->ops->create(dir, w->name, mode, MKDEV(m->f[RDEVMAJOR], m->f[RDEVMINOR]), out);
    if (!err)
        cpio_remember_link(a, m, *out);
    return err;
}

static int unpack_member(struct archive *a, struct member *m)
{
    struct walk *w = kmalloc(sizeof(*w));
    struct inode *inode = NULL;
    bool has_contents;
    int err, lost;

    if (!w)
        return -ENOMEM;
    make_parents(m->name);
    mutex_lock(&fs_lock);
    err = walk_begin(w, NULL, m->name);
    if (!err)
        err = walk_run(w, WALK_PARENT);
    if (!err && w->name[0] && strcmp(w->name, "."))
        err = make_node(a, w, m, &inode);
    walk_end(w);
    mutex_unlock(&fs_lock);
    kfree(w);
    if (inode && !err)
        set_attributes(inode, m);
    has_contents = inode && !err && S_ISREG(inode->mode) && m->f[FILESIZE];
    lost = write_contents(a, has_contents ? inode : NULL, m->f[FILESIZE]);
    if (!err)
        err = lost;
    if (has_contents && !err)
        set_attributes(inode, m); /* writing changed the times */
    inode_put(inode);
    return err;
}

/* The zeros behind a trailer; false at the end of the archive. */
static bool skip_zeros(struct archive *a)
{
    for (; cpio_fill(a, 4); cpio_take(a, 4))
        if (memcmp(a->at, "\0\0\0", 4) != 0)
            return true;
    for (u64 i = 0; i < a->ready; i++)
        if (a->at[i])
            return true;
    return false;
}

int cpio_unpack(struct archive *a)
{
    struct member m;
    int err = 0;

    while (!err && skip_zeros(a)) {
        if (!parse_member(a, &m)) {
            err = -EINVAL;
            break;
        }
        if (strcmp(m.name, "TRAILER!!!")) {
            err = unpack_member(a, &m);
            if (err)
                kprintf("initrd: can not unpack %s: errno %d\n", m.name, -err);
        }
        kfree(m.name);
        take_padding(a);
    }
    cpio_forget_links(a);
    return err;
}

int initrd_unpack(void)
{
    struct archive initrd = {.at = initrd_start, .ready = initrd_size, .bytes = initrd_size};

    return cpio_unpack(&initrd);
}
