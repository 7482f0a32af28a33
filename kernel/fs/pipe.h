/* pipe.h: pipes and FIFOs. */
#pragma once

#include "abi/errno.h"
#include "fs.h"
#include "optional.h"

struct pipe {
    struct mutex lock;
    char *buf;            /* (lock) ring of size bytes */
    u64 size;             /* (lock) allocated */
    u64 capacity;         /* (lock) limit of size */
    u64 head, len;        /* (lock) first byte in the ring, number of bytes */
    u32 readers, writers; /* (lock) open ends */
    u32 opens[2];         /* (lock) FIFO: number of opens by a reader [0], a writer [1] so far */
    bool held;            /* (lock) a splice copies the first bytes: readers wait */
    struct waitq wait;    /* woken by every change */
    struct inode *fifo;   /* the inode whose bound points here, or NULL */
    bool nameless;        /* of pipe2(2): an open through /proc/self/fd does not wait */
};

#define PIPE_BUF 4096 /* bytes that a write moves at once, or not at all */

extern const struct file_ops pipe_fops;
struct pipe *pipe_new(void);
void pipe_release(struct file *file);
/* All of these need the lock. */
i64 pipe_make_room(struct pipe *p, u64 need, u64 wanted);
i64 pipe_add(struct pipe *p, struct iter *from);
u64 pipe_room(const struct pipe *p);
/* Grows the ring to want bytes, within its capacity; then head is 0. False: there is no ring. */
OPTIONAL(CONFIG_FIFO, bool, pipe_grow, (struct pipe *p, u64 want), true)
/* opt/fifo, opt/poll */
long pipe_ioctl(struct file *file, u32 cmd, u64 arg);
u32 pipe_poll(struct file *file, struct poll_table *pt);
i64 pipe_available(struct file *file);
/* opt/fifo */
extern const struct file_ops fifo_fops;
