/* plic.h: the handlers of each source. */
#pragma once
#include "irq.h"
#include "lock.h"

#define PLIC_SOURCES 128

struct irq_action {
    struct irq_action *next;
    const char *name;
    irq_handler fn;
    void *arg;
};

extern struct irq_action *irq_actions[PLIC_SOURCES]; /* lists; read without the lock */
extern struct spinlock irq_lock;                     /* held to change one */
void irq_set_enabled(u32 source, bool on);           /* (irq_lock) */
