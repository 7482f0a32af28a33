/* Tests of task queues. */
#include "ktest.h"
#include "proc.h"
#include "taskq.h"
#include "timeout.h"
#include "wait.h"

static struct {
    struct taskq *q;
    struct waitq wait;
    bool go, waits, passed; /* atomic */
} world = {.wait = WAITQ_INIT(world.wait)};

static void hold(void *arg)
{
    wait_event(&world.wait, atomic_load(&world.go));
}

static void nothing(void *arg) {}

static void pass_barrier(void *arg)
{
    atomic_store(&world.waits, true);
    taskq_barrier(world.q);
    atomic_store(&world.passed, true);
    wake_up(&world.wait);
}

static bool passes_within(u64 ticks)
{
    u64 deadline = time_now() + ticks;

    while (!atomic_load(&world.passed) && time_now() < deadline)
        wait_event_timeout(&world.wait, atomic_load(&world.passed), deadline);
    return atomic_load(&world.passed);
}

/* Tasks that are added and deleted behind the barrier do not count for those before it. */
KTEST(a_barrier_waits_for_the_running_task)
{
    struct task held, later;

    world.go = world.waits = world.passed = false;
    if (!world.q)
        world.q = taskq_create("ktest");
    ASSERT_TRUE(test, world.q != NULL);
    task_init(&held, hold, NULL);
    task_init(&later, nothing, NULL);
    task_add(world.q, &held);
    ASSERT_TRUE(test, kthread_create("ktest", pass_barrier, NULL) != NULL);
    EXPECT_FALSE(test, passes_within(TICKS_PER_SEC / 1000));
    EXPECT_TRUE(test, atomic_load(&world.waits));
    for (int i = 0; i < 3; i++) {
        task_add(world.q, &later);
        EXPECT_TRUE(test, task_del(&later));
    }
    EXPECT_FALSE(test, passes_within(TICKS_PER_SEC / 1000));
    atomic_store(&world.go, true);
    wake_up(&world.wait);
    EXPECT_TRUE(test, passes_within(TICKS_PER_SEC));
}
