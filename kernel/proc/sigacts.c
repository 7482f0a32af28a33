/* sigacts.c: the table of dispositions of a process, which CLONE_SIGHAND shares. */
#include "alloc.h"
#include "klib.h"
#include "proc.h"
#include "proc/internal.h"

struct sigactions *sigacts_new(void)
{
    struct sigactions *s = kzalloc(sizeof(*s));
    if (s)
        s->refs = 1;
    return s;
}

struct sigactions *sigacts_copy(const struct sigactions *s)
{
    struct sigactions *copy = sigacts_new();
    if (copy)
        memcpy(copy->act, s->act, sizeof(s->act));
    return copy;
}

void sigacts_put(struct sigactions *s)
{
    if (s && atomic_sub(&s->refs, 1) == 0)
        kfree(s);
}

static const struct k_sigaction default_action;

const struct k_sigaction *sigaction_of(const struct proc *p, int sig)
{
    return p->sigacts ? &p->sigacts->act[sig - 1] : &default_action;
}
