/*
 * Hooks for xv6-riscv, compiled and linked with its kernel, whose own files are not changed: the
 * linker calls these functions in place of syscall(), kerneltrap() and panic() (its --wrap), and
 * clang has put calls of the other hooks into the kernel's C files.
 *
 * The program, its results and the records are in the kernel's memory, where the host finds them by
 * their symbols. The agent (xv6-init.c) only asks for its next call, again and again, so whatever
 * a program does with the agent's memory harms no result. Recorded is what runs on the agent's
 * kernel stack during a call of the program, without interrupts.
 */
#include <stdbool.h>
#include <stdint.h>

#include "types.h"
#include "param.h"
#include "memlayout.h"
#include "riscv.h"
#include "spinlock.h"
#include "proc.h"
#include "syscall.h"
#include "defs.h"

#include "words.h"
#include "xv6.h"

#define FINISHER      0x100000UL
#define FINISHER_MARK 0x4d4bU
#define FINISHER_FAIL 0x3333U
#define FINISHER_PASS 0x5555U
#define EXTERNAL      9    /* scause: an interrupt of a device */
#define PATIENCE      4    /* ticks that a call may sleep without running, or for ticks */
#define PRINTED       4000 /* bytes that a call may write to the console */
#define FREE_PAGES    768  /* 3 MB, of 128 */
#define PAGES(bytes)  ((bytes) / PGSIZE)

union control {
    struct lane lane;
    char bytes[CONTROL_BYTES];
};

__attribute__((aligned(PGSIZE))) union control kcovbox_control;
__attribute__((aligned(PGSIZE))) volatile uint64_t kcovbox_area[AREA_WORDS];
uint64_t kcovbox_arena[PAGES(XV6_ARENA_BYTES)]; /* physical addresses of the agent's pages */

#define control (&kcovbox_control.lane)
#define area    kcovbox_area

static struct proc *agent;
static uint64_t stack;        /* of the agent in the kernel: its page */
static bool is_in_call;       /* the agent makes a call of the program */
static int pauses = 1;        /* reasons not to record: no call, an interrupt, a lock */
static volatile bool has_run; /* since the last tick of the timer */
static int slept;             /* ticks, without a break */
static int printed;           /* bytes of the call */
static const uint64_t *at;    /* in the program */
static struct result *result; /* of the next call */
static bool is_dying;

static inline bool is_on_stack(void)
{
    return ((uint64_t)__builtin_frame_address(0) ^ stack) < PGSIZE;
}

static inline bool is_recorded(void)
{
    if (pauses || !is_on_stack())
        return false;
    has_run = true;
    return true;
}

static inline void note_point(uint64_t point)
{
    (void)point;
}

#include "hooks.h"

/*
 * xv6 does not map the finisher: without translation, where the kernel's code is the same, it needs
 * no mapping. No memory but the finisher is used meanwhile.
 */
static void finish(uint64_t word)
{
    uint64_t was_on = r_sstatus() & SSTATUS_SIE, satp;

    intr_off();
    asm volatile("csrr %0, satp\n\t"
                 "csrw satp, zero\n\t"
                 "sfence.vma\n\t"
                 "sw %1, 0(%2)\n\t"
                 "csrw satp, %0\n\t"
                 "sfence.vma"
                 : "=&r"(satp)
                 : "r"(word), "r"(FINISHER)
                 : "memory");
    if (was_on)
        intr_on();
}

static void mark(enum mark number)
{
    finish(FINISHER_MARK | (uint64_t)number << 16);
}

static void fail(uint64_t code)
{
    finish(FINISHER_FAIL | code << 16);
}

/*
 * All but a few pages are taken, so that programs can run out of memory, and a call that takes all
 * of it does not look like one that hangs.
 */
static void take_memory(void)
{
    void **taken = 0, **page;

    while ((page = kalloc()) != 0) {
        *page = taken;
        taken = page;
    }
    for (int n = 0; n < FREE_PAGES && taken; n++) {
        page = taken;
        taken = *page;
        kfree(page);
    }
}

/* Only the first process that is ready is the agent: a program may execute /init. */
static uint64_t ready(struct proc *p)
{
    if (agent)
        return -1;
    for (uint64_t i = 0; i < PAGES(XV6_ARENA_BYTES); i++)
        kcovbox_arena[i] = walkaddr(p->pagetable, XV6_ARENA + i * PGSIZE);
    agent = p;
    stack = PGROUNDDOWN((uint64_t)__builtin_frame_address(0));
    at = control->program;
    result = control->results;
    mark(MARK_READY);
    return 0;
}

void __real_syscall(void);

static void make_call(struct proc *p, const struct call *c)
{
    uint64_t v[6];

    for (int i = 0; i < 6; i++)
        v[i] = c->args[i].is_slot ? control->slots[c->args[i].value] : c->args[i].value;
    p->trapframe->a0 = v[0];
    p->trapframe->a1 = v[1];
    p->trapframe->a2 = v[2];
    p->trapframe->a3 = v[3];
    p->trapframe->a4 = v[4];
    p->trapframe->a5 = v[5];
    p->trapframe->a7 = c->number;
    result->begin = area[0];
    result->state = 1;
    slept = printed = 0;
    is_in_call = true;
    pauses--;
    __real_syscall();
    pauses++;
    is_in_call = false;
    result->end = area[0];
    result->value = p->trapframe->a0;
    result->state = 2;
    if (c->slot != NO_SLOT && result->value < -4096UL)
        control->slots[c->slot] = result->value;
    result++;
}

static void store(struct proc *p, const struct store *s)
{
    copyout(p->pagetable, s->address, (char *)&control->slots[s->slot], s->bytes);
}

/* Out of memory that the call before it has filled. */
static void load(struct proc *p, const struct store *s)
{
    if (result[-1].value >= -4096UL)
        return;
    control->slots[s->slot] = 0;
    copyin(p->pagetable, (char *)&control->slots[s->slot], s->address, s->bytes);
}

/* Up to the next call and with it; a child of the program, which would go on with it, ends. */
static void next(struct proc *p)
{
    if (p != agent) {
        p->trapframe->a0 = 0;
        p->trapframe->a7 = SYS_exit;
        __real_syscall();
        return;
    }
    for (;;) {
        switch (*at++) {
        case OP_CALL: {
            const struct call *c = (const struct call *)at;
            at += sizeof(struct call) / 8;
            make_call(p, c);
            return;
        }
        case OP_STORE:
            store(p, (const struct store *)at);
            at += sizeof(struct store) / 8;
            break;
        case OP_LOAD:
            load(p, (const struct store *)at);
            at += sizeof(struct store) / 8;
            break;
        default:
            mark(MARK_DONE);
            return;
        }
    }
}

void __wrap_syscall(void)
{
    struct proc *p = myproc();

    switch (p->trapframe->a7) {
    case XV6_CALL_PREPARE:
        take_memory();
        break;
    case XV6_CALL_READY:
        p->trapframe->a0 = ready(p);
        break;
    case XV6_CALL_NEXT:
        next(p);
        break;
    case XV6_CALL_END:
        finish(FINISHER_PASS);
        break;
    default:
        __real_syscall();
    }
}

/*
 * A call that sleeps for good: xv6 has no signals that could interrupt it, and its scheduler never
 * stops looking for work.
 */
static void count_tick(void)
{
    if (!is_in_call || (r_scause() & 0xff) == EXTERNAL)
        return;
    bool is_asleep = agent->state == SLEEPING && (!has_run || agent->chan == &ticks);
    slept = is_asleep ? slept + 1 : 0;
    has_run = false;
    if (slept > PATIENCE)
        fail(XV6_ASLEEP);
}

__attribute__((weak)) void __real_uartputc(int);

/* Each byte costs 37,000 instructions: a call that writes many is slow, but it does not hang. */
void __wrap_uartputc(int byte)
{
    if (is_in_call && is_on_stack() && ++printed > PRINTED)
        fail(XV6_ASLEEP);
    __real_uartputc(byte);
}

void __real_kerneltrap(void);

void __wrap_kerneltrap(void)
{
    bool is_own = is_in_call && is_on_stack();

    if (is_own)
        pauses++;
    else
        count_tick();
    __real_kerneltrap();
    if (is_own)
        pauses--;
}

/*
 * Spinlocks and wakeup() are not recorded: it takes the lock of each process in turn, four times
 * for each block of the disk, so most records would be of these few functions. spinlock.c has no
 * hooks, but it calls functions that have some.
 */
#define WITHOUT_RECORDS(name, type, arg)                                                           \
    void __real_##name(type);                                                                      \
    void __wrap_##name(type arg)                                                                   \
    {                                                                                              \
        bool is_own = is_in_call && is_on_stack();                                                 \
                                                                                                   \
        pauses += is_own;                                                                          \
        __real_##name(arg);                                                                        \
        pauses -= is_own;                                                                          \
    }
WITHOUT_RECORDS(acquire, struct spinlock *, lock)
WITHOUT_RECORDS(release, struct spinlock *, lock)
WITHOUT_RECORDS(push_off, void, )
WITHOUT_RECORDS(pop_off, void, )
WITHOUT_RECORDS(wakeup, void *, channel)

static void print(const char *text)
{
    for (; *text; text++)
        consputc(*text);
}

/* xv6 loops for good behind its message; its printf takes a lock, which may be the reason. */
void __wrap_panic(char *text)
{
    pauses++;
    if (!is_dying) {
        is_dying = true;
        print("panic: ");
        print(text);
        print("\n");
    }
    fail(XV6_PANIC);
    for (;;)
        ;
}
