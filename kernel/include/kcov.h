/*
 * The interface between kcov and the rest of the kernel.
 *
 *     a thread starts, ends     kcov_thread_start, kcov_thread_exit (before descriptors close)
 *     a hart changes thread     kcov_switch, at the switch itself
 *     the scheduler works       kcov_sched_enter .. kcov_sched_leave (mutes: Linux only)
 *     an interrupt              kcov_irq_enter .. kcov_irq_leave, outside instrumented code
 *     a system call             kcov_syscall_enter .. kcov_syscall_leave
 *     deferred work runs        kcov_remote_enter .. kcov_remote_leave, for its origin
 *     a driver's own section    kcov_section_enter .. kcov_section_leave
 *
 * "live" is the context that the current thread records into at this moment; when it is NULL, the
 * hooks return at once. The device's CURRENT register mirrors it.
 */
#pragma once
#include "types.h"
#include "abi/kcov-device.h"
#include "optional.h"

struct thread;
struct work_origin;
struct kcov_desc;
struct kcov_remote;
struct vm_pages;

/* Interrupts that may nest on one thread's stack. */
#define KCOV_NEST_MAX 4

/*
 * A remote section, of a thread or of the interrupts of a hart. The records go to a private area,
 * and are moved to the descriptor's when the section ends; without one (OpenBSD's threads) the
 * context names the descriptor's area itself.
 */
struct kcov_section {
    struct kcov_context ctx;
    struct kcov_remote *remote;       /* 0: no section is open */
    struct vm_pages *area;            /* the private one, or 0 */
    struct kcov_desc *desc;           /* linux: holds a reference */
    u64 sequence;                     /* linux: of desc when the section started */
    struct kcov_context *interrupted; /* live before the section */
};

/* Lives in struct thread at THREAD_KCOV (asm.h); live must be its first field (kcov/hooks.S). */
struct kcov_thread {
    struct kcov_context *live;
    u32 nest;                                  /* interrupts (and soft ones) on this stack */
    u32 sched_depth;                           /* kcov_sched_enter without leave */
    struct kcov_context *saved[KCOV_NEST_MAX]; /* live of each interrupted level */
    struct kcov_context *sched_saved;
    struct kcov_desc *desc; /* (kcov_lock) the descriptor that this thread enabled, or NULL */
    struct kcov_desc *remote_desc; /* (kcov_lock) linux: enabled for remote handles */
    u64 common_handle;             /* linux: stored in work that this thread schedules */
    struct kcov_section section;   /* of thread context */
};

/* After devfs and debugfs exist: finds the device, makes the node. */
OPTIONAL(CONFIG_KCOV, void, kcov_init, (void))
OPTIONAL(CONFIG_KCOV, void, kcov_thread_start, (struct thread *child, struct thread *parent))
/* t is the current thread. */
OPTIONAL(CONFIG_KCOV, void, kcov_thread_exit, (struct thread *t))
/* Uninstrumented; interrupts are off. next is about to run on this hart. */
OPTIONAL(CONFIG_KCOV, void, kcov_switch, (struct thread *next))
/* Uninstrumented; called by trap/entry.S around every interrupt (also nested). */
OPTIONAL(CONFIG_KCOV, void, kcov_irq_enter, (void))
OPTIONAL(CONFIG_KCOV, void, kcov_irq_leave, (void))

/* Uninstrumented; around the body of schedule(). Linux does not trace context switches. */
OPTIONAL(CONFIG_KCOV, void, kcov_sched_enter, (void))
OPTIONAL(CONFIG_KCOV, void, kcov_sched_leave, (void))

/* Contexts hold the number of the running system call, for reports of the host. */
static inline void kcov_syscall_enter(struct kcov_thread *k, u64 number)
{
    if (HAS_OPTION(CONFIG_KCOV) && unlikely(k->live != NULL))
        k->live->syscall = (u32)number;
}
static inline void kcov_syscall_leave(struct kcov_thread *k)
{
    if (HAS_OPTION(CONFIG_KCOV) && unlikely(k->live != NULL))
        k->live->syscall = ~0U;
}

/*
 * Called around work on behalf of another process: a task, a timeout, the handler of a device
 * interrupt. softirq: the work was deferred and runs at the end of an interrupt; false in an
 * interrupt means its handler itself, where Linux does not record. No-ops without a listener.
 */
OPTIONAL(CONFIG_KCOV, void, kcov_remote_enter, (const struct work_origin *origin, bool softirq))
OPTIONAL(CONFIG_KCOV, void, kcov_remote_leave, (void))
/* linux: the handle to store in background work, 0 outside threads. */
OPTIONAL(CONFIG_KCOV, u64, kcov_common_handle, (struct thread *t), 0)

/*
 * Sections of a driver. OpenBSD and NetBSD name a remote by (subsystem, id): register it at attach.
 * Linux names it by a handle alone, which is the id here; nothing is registered beforehand.
 * Interrupt or thread context; sections do not nest.
 */
/* Thread context; may sleep; idempotent. */
OPTIONAL(CONFIG_KCOV, void, kcov_remote_register, (u64 subsystem, u64 id))
/* Waits for open sections. */
OPTIONAL(CONFIG_KCOV, void, kcov_remote_unregister, (u64 subsystem, u64 id))
OPTIONAL(CONFIG_KCOV, void, kcov_section_enter, (u64 subsystem, u64 id))
OPTIONAL(CONFIG_KCOV, void, kcov_section_leave, (void))
