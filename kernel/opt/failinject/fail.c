/* kcov: not instrumented: part of the allocators */
/*
 * Allocation failure injection, after Linux's fail-nth: a thread arms its own counter by writing N
 * to /dev/fail-nth, and its N-th allocation from then on fails, once. Interrupts and kernel threads
 * never fail. Reading gives the rest of the counter, 0 after it has fired, and disarms. Writing 0
 * disarms. "fail_nth=N" on the command line arms the first program's first thread; the console then
 * shows the failure with its backtrace. Divergence: Linux has the file in /proc/self.
 */
#include "abi/errno.h"
#include "alloc.h"
#include "boot.h"
#include "file.h"
#include "klib.h"
#include "proc.h"

static bool is_verbose;

bool should_fail_alloc(void)
{
    struct thread *t = current;
    if (t->fail_nth == 0 || this_cpu()->intr_depth || --t->fail_nth)
        return false;
    if (is_verbose) {
        kprintf("FAULT_INJECTION: forcing a failure\nname fail-nth, task %s/%d\n", t->name, t->tid);
        backtrace((u64)__builtin_frame_address(0), 0);
    }
    return true;
}

void fail_first_program(void)
{
    current->fail_nth = (int)cmdline_get_u64("fail_nth", 0);
    is_verbose = current->fail_nth != 0;
}

static i64 fail_read(struct file *file, struct iter *to, i64 *pos)
{
    char text[16];
    int left = current->fail_nth;
    (void)file;
    if (*pos)
        return 0;
    current->fail_nth = 0; /* the page fault of iter_put must not hit the counter */
    int n = ksnprintf(text, sizeof(text), "%d\n", left);
    *pos = n;
    return (i64)iter_put(to, text, (u64)n);
}

static i64 fail_write(struct file *file, struct iter *from, i64 *pos)
{
    char text[16] = "";
    const char *end;
    (void)file, (void)pos;
    i64 n = (i64)iter_get(from, text, sizeof(text) - 1);
    u64 nth = strtou64(text, &end, 10);
    if (end == text || nth > 0x7fffffff)
        return -EINVAL;
    current->fail_nth = (int)nth;
    return n;
}

static const struct file_ops fail_ops = {.read = fail_read, .write = fail_write};

static void fail_init(void)
{
    devfs_register("fail-nth", &fail_ops, 0666);
}
INITCALL(fail_init);
