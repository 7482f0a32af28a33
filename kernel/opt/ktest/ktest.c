/* kcov: not instrumented: the coverage of a test must not include its runner */
/*
 * ktest.c: /dev/ktest. Reading it gives the names of all tests, one a line; writing a name runs
 * that test in the calling thread: the write fails with EIO if the test failed, with ECANCELED if
 * it was skipped. The console shows a failure as a TAP diagnostic.
 */
#include "ktest.h"
#include "abi/errno.h"
#include "file.h"
#include "fs.h"
#include "boot.h"
#include "klib.h"

#define NAME_MAX 96

extern struct ktest *const __ktests_start[], *const __ktests_end[];
static struct mutex running = MUTEX_INIT(running, "ktest");

/* "resource.dma_is_zeroed": the file without its ending, and the test. */
static void full_name(const struct ktest *t, char *name)
{
    char suite[NAME_MAX];
    char *dot;

    strlcpy(suite, t->file, sizeof(suite));
    dot = strrchr(suite, '.');
    if (dot)
        *dot = 0;
    ksnprintf(name, NAME_MAX, "%s.%s", suite, t->name);
}

void ktest_fail(struct ktest *test, const char *file, int line, const char *what, i64 a, i64 b)
{
    test->failures++;
    kprintf("# %s:%d: expected %s: left is %ld, right is %ld\n", file, line, what, a, b);
}

static i64 list(struct file *file, struct iter *to, i64 *pos)
{
    i64 at = 0, done = 0;

    for (struct ktest *const *t = __ktests_start; t < __ktests_end; t++) {
        char line[NAME_MAX + 1];
        i64 n, from;

        full_name(*t, line);
        n = (i64)strlen(line);
        line[n++] = '\n';
        from = MAX(*pos + done - at, 0);
        if (from < n && to->left) {
            u64 moved = iter_put(to, line + from, (u64)(n - from));

            if (!moved)
                return done ? done : -EFAULT;
            done += (i64)moved;
        }
        at += n;
    }
    *pos += done;
    return done;
}

static int run(struct ktest *t)
{
    int failures;
    const char *skipped;

    mutex_lock(&running);
    t->failures = 0;
    t->skipped = NULL;
    t->run(t);
    failures = t->failures;
    skipped = t->skipped;
    mutex_unlock(&running);
    if (skipped)
        kprintf("# skipped: %s\n", skipped);
    return failures ? -EIO : skipped ? -ECANCELED : 0;
}

static i64 start(struct file *file, struct iter *from, i64 *pos)
{
    char wanted[NAME_MAX], name[NAME_MAX];
    i64 n = (i64)from->left;

    if (n >= NAME_MAX || iter_get(from, wanted, (u64)n) < (u64)n)
        return -EINVAL;
    wanted[n] = 0;
    for (struct ktest *const *t = __ktests_start; t < __ktests_end; t++) {
        full_name(*t, name);
        if (!strcmp(name, wanted)) {
            int err = run(*t);

            return err ? err : n;
        }
    }
    return -ENOENT;
}

static const struct file_ops ops = {.read = list, .write = start};

static void ktest_init(void)
{
    devfs_register("ktest", &ops, 0600);
}
INITCALL(ktest_init);
