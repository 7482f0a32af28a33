/* scm.h: control messages: descriptors and credentials beside the bytes of a socket message. */
#pragma once

#include "unix.h"

/* Reads SCM_RIGHTS of sendmsg(2): references of the named files. */
long scm_collect(u64 control, u64 len, struct file ***files, u32 *n);
/* Writes what recvmsg(2) shows; installs descriptors; consumes how->files it could deliver. */
void scm_deliver(bool with_cred, struct unix_recv *how, bool cloexec, u64 control, u64 *len,
                 i32 *flags);
void scm_drop(struct file **files, u32 n);
