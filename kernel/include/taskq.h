/*
 * Deferred work: a task is a function queued for a kernel thread; a soft interrupt runs when the
 * outermost interrupt of this hart ends. Both record their origin, the thread that scheduled them,
 * and run between kcov_remote_enter() and kcov_remote_leave() for that origin, so that remote
 * coverage reaches the right descriptor.
 */
#pragma once
#include "types.h"
#include "list.h"
#include "optional.h"

/*
 * The origin of deferred work. Ids are never reused, so the work may outlive its process: it then
 * matches no process.
 */
struct work_origin {
    u64 proc_id;     /* struct proc id; 0 = the kernel itself */
    u64 kcov_handle; /* linux: common handle of the thread that scheduled the work */
};

struct taskq;

struct task {
    struct list link;
    void (*fn)(void *arg);
    void *arg;
    struct taskq *queue; /* queued on, or NULL */
    u64 ticket;          /* its number in the order of that queue */
    struct work_origin origin;
};

extern struct taskq *system_taskq; /* general; one kernel thread, may sleep */
/*
 * For work that drops last references. A release of a file may wait for system_taskq, so such work
 * must not run in it.
 */
extern struct taskq *reaper_taskq;

struct taskq *taskq_create(const char *name); /* for good */
void task_init(struct task *t, void (*fn)(void *), void *arg);
/* Queue t; false when it already was. Origin = current thread (in an interrupt: the kernel). */
bool task_add(struct taskq *q, struct task *t);
bool task_add_for(struct taskq *q, struct task *t, const struct work_origin *origin);
/* Take t off its queue; false when it was not queued (it may be running). */
bool task_del(struct task *t);
/* Wait until everything queued before has run, including what runs now. May sleep. */
void taskq_barrier(struct taskq *q);

/* Runs a copy of a task that has left its queue, for its origin. */
void task_run(const struct task *t, bool softirq);

/* opt/toyusb */
/* Run t->fn at the end of the current interrupt (or at once when there is none), no sleeping. */
void softirq_raise(struct task *t);
OPTIONAL(CONFIG_TOYUSB, void, softirq_run, (void))

/* The origin that this thread's deferred work would carry. */
void work_origin_capture(struct work_origin *origin);

void taskq_init(void);
