/*
 * /dev/mailbox: messages of 8 bytes in a ring of four slots. write(2) puts one in, read(2) takes
 * the oldest out; either waits while it cannot. Every message that was written is read once.
 */
#include "abi/errno.h"
#include "boot.h"
#include "file.h"
#include "fs.h"
#include "klib.h"
#include "lock.h"
#include "wait.h"

#define SLOTS 4

static struct {
    struct spinlock lock;
    u64 slot[SLOTS];
    u32 first, count; /* (lock) the oldest message, and how many there are */
    struct waitq wait;
} box = {.lock = SPINLOCK_INIT("mailbox"), .wait = WAITQ_INIT(box.wait)};

static i64 mailbox_read(struct file *file, struct iter *to, i64 *pos)
{
    u64 message;
    long err;

    if (to->left < sizeof(message))
        return -EINVAL;
    spin_lock(&box.lock);
    while (box.count == 0) {
        spin_unlock(&box.lock);
        err = wait_event_interruptible(&box.wait, atomic_load(&box.count) > 0);
        if (err)
            return err;
        spin_lock(&box.lock);
    }
    message = box.slot[box.first];
    box.first = (box.first + 1) % SLOTS;
    box.count--;
    spin_unlock(&box.lock);
    wake_up(&box.wait);
    return iter_put(to, &message, sizeof(message)) == sizeof(message) ? 8 : -EFAULT;
}

static i64 mailbox_write(struct file *file, struct iter *from, i64 *pos)
{
    u64 message;
    long err;

    if (from->left < sizeof(message))
        return -EINVAL;
    if (iter_get(from, &message, sizeof(message)) != sizeof(message))
        return -EFAULT;
    spin_lock(&box.lock);
    while (box.count == SLOTS) {
        spin_unlock(&box.lock);
        err = wait_event_interruptible(&box.wait, atomic_load(&box.count) < SLOTS);
        if (err)
            return err;
        spin_lock(&box.lock);
    }
    box.slot[(box.first + box.count) % SLOTS] = message;
    box.count++;
    spin_unlock(&box.lock);
    wake_up(&box.wait);
    return sizeof(message);
}

static const struct file_ops mailbox_ops = {.read = mailbox_read, .write = mailbox_write};

static void mailbox_init(void)
{
    devfs_register_dev("mailbox", &mailbox_ops, 0666, MKDEV(10, 200), NULL);
}
INITCALL(mailbox_init);
