/* clone.h: what clone(2) and clone3(2) share, and what they ask of other options. */
#pragma once
#include "abi/sched.h"
#include "proc/internal.h"

#define CLONE_PIDFD         0x00001000
#define CLONE_PARENT        0x00008000
#define CLONE_NAMESPACES    0x7e020000    /* ..NEWNS, CGROUP, UTS, IPC, USER, PID, NET */
#define CLONE_CLEAR_SIGHAND 0x100000000UL /* clone3 only */

long do_clone(const struct clone_request *rq);

/*
 * opt/exec: handlers become SIG_DFL; SIG_IGN stays. If the table is shared, its copy in spare
 * replaces it. Takes over spare; NULL will do for a table that is not shared.
 */
OPTIONAL(CONFIG_EXEC, void, sigacts_exec, (struct proc *p, struct sigactions *spare))
/* opt/exec */
/* Until the child executes a program or exits, or a fatal signal comes. */
OPTIONAL(CONFIG_EXEC, void, vfork_wait, (struct proc *child))
/* opt/handlers */
OPTIONAL(CONFIG_HANDLERS, void, altstack_copy, (struct thread *child, u64 clone_flags))
/* opt/pidfd */
/* A descriptor of p, whose number is stored at to; or -errno. */
OPTIONAL(CONFIG_PIDFD, long, pidfd_begin, (struct proc *p, va_t to), -EINVAL)
