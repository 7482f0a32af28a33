/* kcov: not instrumented: it would record itself */
/*
 * Coverage for programs, as OpenBSD's kcov(4) has it. The kernel calls the functions below; the
 * compiler calls the hooks. kernel/include/kcov.h says when.
 */
#include "abi/errno.h"
#include "alloc.h"
#include "file.h"
#include "fs.h"
#include "kcov.h"
#include "klib.h"
#include "lock.h"
#include "proc.h"
#include "vm.h"

/* One for each open of /dev/kcov. current->kcov.desc is that of the thread, or NULL. */
struct kcov_desc {
    int todo;
};

/* Called at the beginning of every block of the kernel's code. */
void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void) {}

/* Called before every comparison; nothing to do in this lab. */
#define IGNORED(name)                                                                              \
    void __sanitizer_cov_##name(u64 a, u64 b);                                                     \
    void __sanitizer_cov_##name(u64 a, u64 b) {}
IGNORED(trace_cmp1)
IGNORED(trace_cmp2)
IGNORED(trace_cmp4)
IGNORED(trace_cmp8)
IGNORED(trace_const_cmp1)
IGNORED(trace_const_cmp2)
IGNORED(trace_const_cmp4)
IGNORED(trace_const_cmp8)
IGNORED(trace_switch)

/* Once, at boot. */
void kcov_init(void) {}

/* child begins to exist; parent may be NULL. */
void kcov_thread_start(struct thread *child, struct thread *parent)
{
    memset(&child->kcov, 0, sizeof(child->kcov));
}

/* t, the current thread, ends. Its files are still open. */
void kcov_thread_exit(struct thread *t) {}

/* An interrupt begins and ends, on the stack of the current thread. They may nest. */
void kcov_irq_enter(void) {}
void kcov_irq_leave(void) {}

/* Nothing to do in this lab. */
void kcov_switch(struct thread *next) {}
void kcov_sched_enter(void) {}
void kcov_sched_leave(void) {}
void kcov_remote_enter(const struct work_origin *origin, bool softirq) {}
void kcov_remote_leave(void) {}
u64 kcov_common_handle(struct thread *t)
{
    return 0;
}
void kcov_remote_register(u64 subsystem, u64 id) {}
void kcov_remote_unregister(u64 subsystem, u64 id) {}
void kcov_section_enter(u64 subsystem, u64 id) {}
void kcov_section_leave(void) {}
void kcov_set_live(struct kcov_context *context);
void kcov_set_live(struct kcov_context *context) {}
