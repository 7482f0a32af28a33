/* look.h: descriptors that are in use. */
#pragma once

#include "file.h"

/*
 * For procfs, which reads other processes' tables and must not drop a file's last reference:
 * files_look runs look() with the table's spinlock held; false when fd is free. files_next gives
 * the next used number at or above fd, or -1.
 */
bool files_look(struct files *files, int fd, void (*look)(struct file *f, void *arg), void *arg);
int files_next(struct files *files, int fd);
