/* dev.h: devices without hardware. */
#pragma once

#include "file.h"

void null_init(void); /* proc/init.c starts it */
/* Operations that take any bytes, and stay at position 0. */
i64 null_write(struct file *file, struct iter *from, i64 *pos);
i64 null_lseek(struct file *file, i64 offset, int whence);
