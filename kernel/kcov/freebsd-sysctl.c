/* kcov: not instrumented: part of the kcov driver */
/*
 * FreeBSD's kern.kcov.max_entries. The system-call interface is Linux's, which has no sysctl(3), so
 * sysctlbyname() of our <sys/sysctl.h> uses /dev/sysctl: write "name" checks the name, write
 * "name=value" sets it, read gives the value as text.
 */
#include "freebsd.h"

#ifdef CONFIG_KCOV
#define NAME     "kern.kcov.max_entries"
#define NAME_LEN (sizeof(NAME) - 1)

static i64 sysctl_write(struct file *file, struct iter *from, i64 *pos)
{
    char text[64] = "";
    u64 size = from->left;

    if (size >= sizeof(text) || iter_get(from, text, size) != size)
        return -EINVAL;
    if (strncmp(text, NAME, NAME_LEN) != 0)
        return -ENOENT;
    if (text[NAME_LEN] == '=') {
        const char *end;
        if (curproc->euid)
            return -EPERM; /* as for every knob of sysctl(3); everybody reads it */
        u64 value = strtou64(text + NAME_LEN + 1, &end, 10);
        if (*end || value > ~0U)
            return -EINVAL;
        kcov_max_entries = value;
    } else if (text[NAME_LEN]) {
        return -ENOENT;
    }
    return (i64)size;
}

static i64 sysctl_read(struct file *file, struct iter *to, i64 *pos)
{
    char text[24];
    u64 length = (u64)ksnprintf(text, sizeof(text), "%lu", kcov_max_entries);
    u64 put = iter_put(to, text, length);

    return put || !to->left ? (i64)put : -EFAULT;
}

static int sysctl_open(struct inode *inode, struct file *file)
{
    file->fflags |= FF_STREAM;
    return 0;
}

static const struct file_ops sysctl_ops = {
    .open = sysctl_open,
    .read = sysctl_read,
    .write = sysctl_write,
};

void kcov_freebsd_init(void)
{
    if (devfs_register("sysctl", &sysctl_ops, 0666))
        kprintf("kcov: no /dev/sysctl\n");
}
#endif
