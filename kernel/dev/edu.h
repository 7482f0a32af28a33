/* edu.h: the driver of the teaching device, edu.c, and its buffer, opt/edudma/dma.c. */
#pragma once
#include "abi/edu.h"
#include "driver.h"
#include "file.h"

struct edu {
    struct device *dev;
    volatile u8 *regs;
    struct mutex lock; /* one operation at a time */
    u8 *dma;           /* (lock) EDU_DMA: a page the device can reach */
    struct spinlock done_lock;
    bool busy, done;           /* (done_lock) a caller waits; the result is there */
    u32 result;                /* (done_lock) */
    bool failed;               /* (done_lock) */
    struct work_origin origin; /* (done_lock) the process that started the operation */
    struct task task;
    struct waitq wait;
};

/* Starts an operation: the caller writes to the device now. Needs e->lock. */
void edu_begin(struct edu *e);
/* Sleeps until it has ended: 0 or a negative errno. */
int edu_finish(struct edu *e);

/* opt/edudma */
OPTIONAL(CONFIG_EDU_DMA, int, edu_buffer_init, (struct device *dev, struct edu *e), 0)
i64 edu_read(struct file *file, struct iter *to, i64 *pos);
i64 edu_write(struct file *file, struct iter *from, i64 *pos);
i64 edu_lseek(struct file *file, i64 offset, int whence);
u32 edu_poll(struct file *file, struct poll_table *pt);
