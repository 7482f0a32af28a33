/*
 * What the rest of the kernel owes to kcov: the calls at thread start and end, at a context switch,
 * around interrupts, and around deferred work. Placeholder until kernel/kcov fills it in.
 */
#pragma once
#include "types.h"

struct thread;
struct work_origin;

/* Lives in struct thread at offset 192 (THREAD_KCOV in asm.h). */
struct kcov_thread {
    void *desc;
    u64 context_pa;
};

#ifdef CONFIG_KCOV
void kcov_init(void);
void kcov_init_hart(void);
void kcov_thread_start(struct thread *child, struct thread *parent);
void kcov_thread_exit(struct thread *t); /* before descriptors are closed */
/* Uninstrumented; interrupts are off. next is about to run on this hart. */
void kcov_switch(struct thread *next);
/* Uninstrumented; called by trap/entry.S around every interrupt (also nested). */
void kcov_irq_enter(void);
void kcov_irq_leave(void);
/* Around a task, timeout or soft interrupt; softirq tells which. */
void kcov_remote_enter(const struct work_origin *origin, bool softirq);
void kcov_remote_leave(void);
u64 kcov_common_handle(struct thread *t);
#else
static inline void kcov_init(void) {}
static inline void kcov_init_hart(void) {}
static inline void kcov_thread_start(struct thread *c, struct thread *p) { (void)c; (void)p; }
static inline void kcov_thread_exit(struct thread *t) { (void)t; }
static inline void kcov_switch(struct thread *t) { (void)t; }
static inline void kcov_remote_enter(const struct work_origin *o, bool s) { (void)o; (void)s; }
static inline void kcov_remote_leave(void) {}
static inline u64 kcov_common_handle(struct thread *t) { (void)t; return 0; }
#endif
