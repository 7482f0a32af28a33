/*
 * Damaged minfs images: flipped bits, and fields replaced by values that are likely to do harm. The
 * kernel refuses the image, or every call on it comes back soon with an answer or an error; a
 * checking kernel has nothing to report. Needs /dev/vda with mkfs-minfs's image on it.
 *
 *     disk-damage [IMAGES [SEED]]
 */
#define _GNU_SOURCE
#include "check.h"
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>

#include "../../kernel/abi/minfs.h"

#define TOP      "/tmp/disk"
#define KEPT_MAX 512     /* blocks of the good image */
#define SECONDS  30      /* for one image: far more than it needs, even on a busy host */
#define NODES    200     /* visited in one image */
#define FAR      5000000 /* in a file: reached through the double indirect block */

static int images = 40, disk, mounted, nodes;
static unsigned long state = 1;
static struct minfs_super super;

/* The good image: its blocks, and those of them whose fields are damaged. */
static struct {
    unsigned block;
    int is_metadata;
    unsigned char good[MINFS_BLOCK], bad[MINFS_BLOCK];
} kept[KEPT_MAX];
static int nkept;

static unsigned below(unsigned n)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (unsigned)(state >> 16) % n;
}

static int attach(unsigned long flags)
{
    return mount("/dev/vda", TOP, "minfs", flags, NULL);
}

static int put_file(const char *name, long at)
{
    char page[MINFS_BLOCK];
    int fd = open(name, O_RDWR | O_CREAT, 0644);

    memset(page, 'g', sizeof(page));
    int ok = fd >= 0 && pwrite(fd, page, sizeof(page), 0) > 0 && pwrite(fd, "far", 3, at) == 3;
    return ok && close(fd) == 0;
}

static void keep(unsigned block, int is_metadata)
{
    for (int i = 0; i < nkept; i++)
        if (kept[i].block == block)
            return;
    if (!block || nkept == KEPT_MAX)
        exit(99);
    kept[nkept].block = block;
    kept[nkept].is_metadata = is_metadata;
    if (pread(disk, kept[nkept].good, MINFS_BLOCK, (off_t)block * MINFS_BLOCK) != MINFS_BLOCK)
        exit(98);
    nkept++;
}

static void keep_tables(unsigned block, int depth, int is_dir)
{
    unsigned table[MINFS_POINTERS];

    if (!block)
        return;
    keep(block, depth || is_dir);
    if (!depth || pread(disk, table, sizeof(table), (off_t)block * MINFS_BLOCK) < 0)
        return;
    for (unsigned i = 0; i < MINFS_POINTERS; i++)
        keep_tables(table[i], depth - 1, is_dir);
}

static void keep_inode(const struct minfs_inode *n)
{
    for (unsigned i = 0; i < MINFS_DIRECT; i++)
        keep_tables(n->direct[i], 0, S_ISDIR(n->mode));
    keep_tables(n->indirect, 1, S_ISDIR(n->mode));
    keep_tables(n->double_indirect, 2, S_ISDIR(n->mode));
}

static void a_good_image_is_made(void)
{
    char name[64];

    CHECK(attach(0) == 0 && mkdir(TOP "/dir", 0755) == 0 && mkdir(TOP "/dir/sub", 0755) == 0);
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof(name), TOP "/dir/%d", i);
        CHECK(put_file(name, 100));
    }
    CHECK(put_file(TOP "/indirect", 50000) && put_file(TOP "/dir/sub/double", FAR));
    CHECK(symlink("dir/sub", TOP "/link") == 0 && link(TOP "/indirect", TOP "/second") == 0);
    CHECK(mkfifo(TOP "/fifo", 0600) == 0 && umount(TOP) == 0);

    struct minfs_inode table[MINFS_PER_BLOCK];
    disk = open("/dev/vda", O_RDWR);
    CHECK(disk >= 0 && pread(disk, &super, sizeof(super), 0) == sizeof(super));
    memcpy(&kept[nkept].good, &super, sizeof(super));
    kept[nkept++].is_metadata = 1;
    for (unsigned b = 1; b <= super.inode_table; b++)
        keep(b, 1);
    CHECK(pread(disk, table, sizeof(table), (off_t)super.inode_table * MINFS_BLOCK) > 0);
    for (unsigned i = MINFS_ROOT; i < MINFS_PER_BLOCK; i++)
        keep_inode(&table[i]);
    CHECK(nkept > 30);
}

static unsigned harmful(void)
{
    unsigned values[] = {0,
                         1,
                         2,
                         0x7fffffff,
                         0x80000000,
                         0xffffffff,
                         super.blocks,
                         super.blocks - 1,
                         super.first_data,
                         super.first_data - 1,
                         super.inode_table,
                         super.inodes,
                         kept[below((unsigned)nkept)].block,
                         below(MINFS_PER_BLOCK),
                         below(super.blocks),
                         (S_IFMT & below(S_IFMT + 1)) | 0777,
                         MINFS_BLOCK,
                         (unsigned)state};

    return values[below(sizeof(values) / sizeof(*values))];
}

/* Changes 32 bits of the super block, of the inodes in use, or anywhere in a metadata block. */
static void damage_once(void)
{
    int i = below(8) ? (int)super.inode_table : 0;

    if (i && below(2))
        do
            i = (int)below((unsigned)nkept);
        while (!kept[i].is_metadata);
    unsigned *fields = (unsigned *)kept[i].bad, at = below(MINFS_BLOCK / 4);
    if (i == 0)
        at = below(sizeof(super) / 4);
    else if (i == (int)super.inode_table)
        at = below(below(2) ? 5 : 32) * MINFS_INODE_SIZE / 4 + below(26);
    else if (below(2))
        at = at * 64 % (MINFS_BLOCK / 4); /* the number in an entry of a directory */
    if (below(3))
        fields[at] = harmful();
    else
        fields[at] ^= 1u << below(32);
}

static int write_image(int damages)
{
    for (int i = 0; i < nkept; i++)
        memcpy(kept[i].bad, kept[i].good, MINFS_BLOCK);
    for (int i = 0; i < damages; i++)
        damage_once();
    for (int i = 0; i < nkept; i++)
        if (pwrite(disk, kept[i].bad, MINFS_BLOCK, (off_t)kept[i].block * MINFS_BLOCK) < 0)
            return -1;
    return fsync(disk);
}

/* No outcome is wrong here: the calls must come back. */
static void use_file(const char *path, off_t size)
{
    off_t places[] = {0, 5000, 50000, FAR, size / 2, size - 1};
    char buf[100];
    int fd = open(path, O_RDWR | O_NONBLOCK);

    if (fd < 0)
        fd = open(path, O_RDONLY | O_NONBLOCK);
    for (int i = 0; i < 6; i++)
        if (pread(fd, buf, sizeof(buf), places[i]) >= 0 && below(2))
            (void)!pwrite(fd, buf, sizeof(buf), places[i] & 0xffffff);
    if (!below(4))
        (void)!ftruncate(fd, below(20000));
    close(fd);
}

static void change_directory(const char *path)
{
    char a[PATH_MAX], b[PATH_MAX];

    if (snprintf(a, sizeof(a), "%s/new", path) < PATH_MAX - 1 && mkdir(a, 0700) == 0)
        rmdir(a);
    if (snprintf(b, sizeof(b), "%s/newer", path) < PATH_MAX - 1 && put_file(a, 9000)) {
        (void)!rename(a, b);
        (void)!link(b, a);
        unlink(a);
        unlink(b);
    }
    if (chdir(path) == 0 && getcwd(a, sizeof(a)))
        nodes++;
    (void)!chdir("/");
    if (!below(4))
        (void)!rename(path, TOP "/moved");
}

static void visit(const char *path, int depth)
{
    char child[PATH_MAX];
    struct dirent *e;
    struct stat st;
    DIR *d = opendir(path);

    while (d && nodes < NODES && (e = readdir(d))) {
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
            continue;
        nodes++;
        if (snprintf(child, sizeof(child), "%s/%s", path, e->d_name) >= PATH_MAX)
            continue;
        if (lstat(child, &st))
            continue;
        if (S_ISREG(st.st_mode))
            use_file(child, st.st_size);
        if (S_ISLNK(st.st_mode))
            (void)!stat(child, &st);
        if (S_ISDIR(st.st_mode) && depth < 8)
            visit(child, depth + 1);
        if (!below(8))
            (void)!(S_ISDIR(st.st_mode) ? rmdir(child) : unlink(child));
    }
    if (d)
        closedir(d);
    change_directory(path);
}

static void damaged_images_do_no_harm(void)
{
    struct timespec start, end;
    struct statfs fs;

    CHECK(nkept);
    for (int i = 0; i < images; i++) {
        unsigned long seed = state;

        CHECK(write_image(1 + (int)below(4)) == 0);
        clock_gettime(CLOCK_MONOTONIC, &start);
        if (attach(below(8) ? 0 : MS_RDONLY) == 0) {
            mounted++;
            nodes = 0;
            visit(TOP, 0);
            statfs(TOP, &fs);
            sync();
            CHECK(umount(TOP) == 0);
        }
        clock_gettime(CLOCK_MONOTONIC, &end);
        if (end.tv_sec - start.tv_sec > SECONDS)
            printf("# image %d (state %lu) took too long\n", i, seed);
        CHECK(end.tv_sec - start.tv_sec <= SECONDS);
    }
    printf("# %d of %d images mounted\n", mounted, images);
    CHECK(mounted > 0 && (mounted < images || images < 20));
}

static void the_good_image_still_works(void)
{
    char buf[8] = "";

    CHECK(write_image(0) == 0 && attach(0) == 0);
    int fd = open(TOP "/link/double", O_RDONLY);
    CHECK(fd >= 0 && pread(fd, buf, 3, FAR) == 3 && !memcmp(buf, "far", 3) && close(fd) == 0);
    CHECK(access(TOP "/dir/19", R_OK) == 0 && umount(TOP) == 0);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        images = atoi(argv[1]);
    if (argc > 2)
        state = strtoul(argv[2], NULL, 10) | 1;
    if (access("/dev/vda", F_OK)) {
        printf("ok damaged_images # skipped: no disk attached\n");
        return 0;
    }
    mkdir(TOP, 0755);
    RUN(a_good_image_is_made);
    RUN(damaged_images_do_no_harm);
    RUN(the_good_image_still_works);
    DONE();
}
