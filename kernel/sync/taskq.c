/*
 * Task queues. The kernel thread of a queue runs its tasks in order. During a task the thread works
 * on behalf of the task's origin, and kcov records for that origin.
 */
#include "taskq.h"
#include "alloc.h"
#include "irq.h"
#include "kcov.h"
#include "klib.h"
#include "lock.h"
#include "proc.h"
#include "wait.h"

struct taskq {
    struct spinlock lock;
    struct list tasks;
    struct waitq work; /* the thread waits here */
    struct waitq idle; /* barriers wait here */
    u64 tickets;       /* (lock) the last one given to a task */
    u64 running;       /* (lock) the ticket of the running task, or 0 */
    struct thread *thread;
};

struct taskq *system_taskq, *reaper_taskq;

void work_origin_capture(struct work_origin *origin)
{
    memset(origin, 0, sizeof(*origin));
    if (irq_depth())
        return; /* an interrupt has no origin */
    if (current->on_behalf_of) {
        *origin = *current->on_behalf_of;
        return;
    }
    if (current->proc == &kernel_proc)
        return;
    origin->proc_id = current->proc->id;
    origin->kcov_handle = kcov_common_handle(current);
}

void task_init(struct task *t, void (*fn)(void *), void *arg)
{
    memset(t, 0, sizeof(*t));
    list_init(&t->link);
    t->fn = fn;
    t->arg = arg;
}

bool task_add_for(struct taskq *q, struct task *t, const struct work_origin *origin)
{
    spin_lock(&q->lock);
    bool fresh = !t->queue;
    if (fresh) {
        t->queue = q;
        t->origin = *origin;
        list_push_back(&q->tasks, &t->link);
        t->ticket = ++q->tickets;
    }
    spin_unlock(&q->lock);
    if (fresh)
        wake_up(&q->work);
    return fresh;
}

bool task_add(struct taskq *q, struct task *t)
{
    struct work_origin origin;
    work_origin_capture(&origin);
    return task_add_for(q, t, &origin);
}

bool task_del(struct task *t)
{
    struct taskq *q = t->queue;
    if (!q)
        return false;
    spin_lock(&q->lock);
    bool queued = t->queue == q;
    if (queued) {
        list_remove(&t->link);
        t->queue = NULL;
    }
    spin_unlock(&q->lock);
    if (queued)
        wake_up(&q->idle);
    return queued;
}

/* Takes the first task; its structure may be reused or freed as soon as it runs. */
static bool take(struct taskq *q, struct task *copy)
{
    spin_lock(&q->lock);
    bool found = !list_empty(&q->tasks);
    if (found) {
        struct task *t = list_first(&q->tasks, struct task, link);
        list_remove(&t->link);
        t->queue = NULL;
        *copy = *t;
        q->running = t->ticket;
    }
    spin_unlock(&q->lock);
    return found;
}

void task_run(const struct task *t, bool softirq)
{
    if (t->origin.proc_id) {
        current->on_behalf_of = &t->origin;
        kcov_remote_enter(&t->origin, softirq);
        t->fn(t->arg);
        kcov_remote_leave();
        current->on_behalf_of = NULL;
    } else {
        t->fn(t->arg);
    }
}

static void taskq_thread(void *arg)
{
    struct taskq *q = arg;
    struct task task;
    for (;;) {
        wait_event(&q->work, take(q, &task));
        task_run(&task, false);
        spin_lock(&q->lock);
        q->running = 0;
        spin_unlock(&q->lock);
        wake_up(&q->idle);
    }
}

struct taskq *taskq_create(const char *name)
{
    struct taskq *q = kzalloc(sizeof(*q));
    if (!q)
        return NULL;
    spin_init(&q->lock, "taskq");
    list_init(&q->tasks);
    waitq_init(&q->work);
    waitq_init(&q->idle);
    q->thread = kthread_create(name, taskq_thread, q);
    if (!q->thread) {
        kfree(q);
        return NULL;
    }
    return q;
}

/* Has every task up to this ticket run or been deleted? Counting them would also count later ones.
 */
static bool has_passed(struct taskq *q, u64 ticket)
{
    spin_lock(&q->lock);
    bool waits =
        !list_empty(&q->tasks) && list_first(&q->tasks, struct task, link)->ticket <= ticket;
    bool runs = q->running && q->running <= ticket;
    spin_unlock(&q->lock);
    return !waits && !runs;
}

void taskq_barrier(struct taskq *q)
{
    u64 last = atomic_load(&q->tickets);
    KASSERT(current != q->thread); /* a task would wait for itself */
    wait_event(&q->idle, has_passed(q, last));
}

void taskq_init(void)
{
    system_taskq = taskq_create("systq");
    reaper_taskq = taskq_create("reaper");
    timeout_start_thread();
    if (!system_taskq || !reaper_taskq)
        panic("out of memory for the task queues");
}
