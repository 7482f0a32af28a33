/* scm.h: control messages: descriptors and credentials beside the bytes of a socket message. */
#pragma once

#include "unix.h"

/* Reads the SCM_RIGHTS of sendmsg(2) into an array of references, which the caller drops. */
long scm_collect(u64 control, u64 len, struct file ***files, u32 *n);
/*
 * Writes the control messages of recvmsg(2) and installs descriptors; the caller still drops
 * how->files. *len: bytes at control, then those written. Sets MSG_* bits in *flags.
 */
void scm_deliver(bool with_cred, struct unix_recv *how, bool cloexec, u64 control, u64 *len,
                 i32 *flags);
void scm_drop(struct file **files, u32 n); /* drops the references and the array */
