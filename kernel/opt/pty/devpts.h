/* devpts.h: the directory of pseudo-terminals, which opt/pty/pty.c fills. */
#pragma once

#include "fs.h"

#define PTS_MAJOR 136

int devpts_init(void); /* mounts it on /dev/pts */
int devpts_add_ptmx(const struct file_ops *ops);
/* Makes the node of number n, owned by the caller; *out gets one reference. */
int devpts_add(u32 n, const struct file_ops *ops, void *priv, struct inode **out);
void devpts_remove(u32 n, struct inode *node); /* takes the reference back; dev_priv becomes 0 */
