/* Tests of the driver model that need a driver of their own: failing probes, deferral, order. */
#include "abi/errno.h"
#include "alloc.h"
#include "opt/hotplug/model.h"
#include "file.h"
#include "fs.h"
#include "klib.h"
#include "ktest.h"
#include "opt/hotplug/hotplug.h"

static bool matches(const struct device *dev, const struct driver *driver)
{
    return dev->id == driver->match.id;
}

static const struct bus test_bus = {.name = "test", .match = matches};

enum { PLAIN = 1, NEEDY = 2 };

/* Controls the two drivers below and counts their calls. (driver_lock) */
static struct {
    int fail_at; /* step of the probe that fails; 0: none */
    bool provider;
    int removed, ended;
    struct task task;
    struct waitq wait;
} world;

static void count_end(void *arg)
{
    (*(int *)arg)++;
}

static void nothing(void *arg) {}

static const struct file_ops node_ops = {.lseek = NULL};

static int plain_probe(struct device *dev)
{
    int step = 0, err;

#define STEP_OR(error)                                                                             \
    if (++step == world.fail_at)                                                                   \
    return (error)
    if (!dev_zalloc(dev, 100) || (err = dev_at_end(dev, count_end, &world.ended)))
        return -ENOMEM;
    STEP_OR(-ENODEV);
    if (!dev_dma_alloc(dev, 3 * PAGE_SIZE))
        return -ENOMEM;
    STEP_OR(-ENODEV);
    if ((err = dev_waitq(dev, &world.wait)) || (err = dev_task(dev, &world.task, nothing, NULL)))
        return err;
    STEP_OR(-ENODEV);
    err = dev_node(dev, "ktest-node", &node_ops, 0600, MKDEV(10, 250), &world);
    if (err)
        return err;
    STEP_OR(-ENODEV);
    world.provider = true;
    return 0;
}

static void plain_remove(struct device *dev)
{
    world.removed++;
    world.provider = false;
}

static int needy_probe(struct device *dev)
{
    return world.provider ? 0 : -EPROBE_DEFER;
}

DRIVER(ktest_plain){
    .match = {.bus = &test_bus, .id = PLAIN},
    .probe = plain_probe,
    .remove = plain_remove,
};
DRIVER(ktest_needy){.match = {.bus = &test_bus, .id = NEEDY}, .probe = needy_probe};

static struct device *add(const char *name, u32 id)
{
    struct device *dev;

    mutex_lock(&driver_lock);
    dev = device_add(NULL, &test_bus, NULL, name, 0, 0, id);
    devices_retry();
    mutex_unlock(&driver_lock);
    return dev;
}

static void del(struct device *dev)
{
    mutex_lock(&driver_lock);
    device_del(dev, false);
    mutex_unlock(&driver_lock);
}

static bool node_is_there(void)
{
    struct file *f;

    if (vfs_open("/dev/ktest-node", O_RDONLY, 0, &f))
        return false;
    file_put(f);
    return true;
}

/* Repeated, because the slab allocator itself keeps or frees a page now and then. */
KTEST(a_probe_that_fails_leaves_nothing)
{
    for (world.fail_at = 1; world.fail_at <= 4; world.fail_at++) {
        u64 before = pages_free_count();

        world.ended = 0;
        for (int i = 0; i < 20; i++) {
            struct device *dev = add("plain@0", PLAIN);

            EXPECT_TRUE(test, dev && !dev->driver && !dev->binding);
            EXPECT_FALSE(test, node_is_there());
            del(dev);
        }
        EXPECT_EQ(test, world.ended, 20);
        EXPECT_TRUE(test, before < pages_free_count() + 10);
    }
    world.fail_at = 0;
}

KTEST(memory_lives_as_long_as_an_open_file)
{
    struct device *dev;
    struct file *f;

    world.ended = world.removed = 0;
    dev = add("plain@0", PLAIN);
    ASSERT_TRUE(test, dev && dev->driver);
    ASSERT_EQ(test, vfs_open("/dev/ktest-node", O_RDONLY, 0, &f), 0);
    EXPECT_TRUE(test, f->priv == &world);
    del(dev);
    EXPECT_EQ(test, world.removed, 1);
    EXPECT_EQ(test, world.ended, 0);
    EXPECT_FALSE(test, node_is_there());
    file_put(f);
    EXPECT_EQ(test, world.ended, 1);
}

KTEST(a_deferred_probe_comes_back)
{
    struct device *needy = add("needy@0", NEEDY), *plain;

    ASSERT_TRUE(test, needy != NULL);
    EXPECT_TRUE(test, needy->deferred && !needy->driver);
    plain = add("plain@0", PLAIN);
    EXPECT_TRUE(test, needy->driver && !needy->deferred);
    del(needy);
    del(plain);
}

KTEST(registers_belong_to_one_driver)
{
    struct device *rtc = device_list();
    struct device *thief = add("thief@0", 99);

    while (rtc && !(rtc->driver && !strcmp(rtc->driver->name, "rtc")))
        rtc = rtc->next;
    if (!rtc)
        KTEST_SKIP(test, "no clock on this board");
    mutex_lock(&driver_lock);
    thief->fdt_node = rtc->fdt_node;
    thief->binding = binding_new();
    EXPECT_TRUE(test, dev_ioremap(thief, 0) == NULL);
    binding_end(thief);
    mutex_unlock(&driver_lock);
    del(thief);
}
