/* cloexec.h: the flag FD_CLOEXEC of a descriptor; -EBADF. */
#pragma once

#include "types.h"

int fd_get_cloexec(int fd);
int fd_set_cloexec(int fd, bool cloexec);
