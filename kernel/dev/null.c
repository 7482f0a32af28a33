/* null.c: /dev/null; opt/memdevices has the other devices without hardware. */
#include "dev.h"
#include "fs.h"

static i64 null_read(struct file *file, struct iter *to, i64 *pos)
{
    return 0;
}

i64 null_write(struct file *file, struct iter *from, i64 *pos)
{
    return from->left;
}

i64 null_lseek(struct file *file, i64 offset, int whence)
{
    return 0;
}

static const struct file_ops null_ops = {
    .read = null_read, .write = null_write, .lseek = null_lseek};

void null_init(void)
{
    devfs_register_dev("null", &null_ops, 0666, MKDEV(1, 3), NULL);
}
