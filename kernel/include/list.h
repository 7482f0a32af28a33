/* Doubly linked circular lists with the link inside the element; an empty list points at itself. */
#pragma once
#include "types.h"

struct list {
    struct list *prev, *next;
};

#define LIST_INIT(name) {&(name), &(name)}

static inline void list_init(struct list *l)
{
    l->prev = l->next = l;
}

static inline bool list_empty(const struct list *l)
{
    return l->next == l;
}

static inline void list_add_between(struct list *n, struct list *prev, struct list *next)
{
    n->prev = prev;
    n->next = next;
    prev->next = n;
    next->prev = n;
}

/* Insert right after l: at the front when l is the list head. */
static inline void list_push_front(struct list *l, struct list *n)
{
    list_add_between(n, l, l->next);
}

/* Insert right before l: at the end when l is the list head. */
static inline void list_push_back(struct list *l, struct list *n)
{
    list_add_between(n, l->prev, l);
}

/* Unlink n; n becomes an empty list, so removing twice is harmless. */
static inline void list_remove(struct list *n)
{
    n->prev->next = n->next;
    n->next->prev = n->prev;
    list_init(n);
}

#define list_entry(ptr, type, member) container_of(ptr, type, member)
#define list_first(l, type, member)   list_entry((l)->next, type, member)
#define list_for_each(it, l, type, member)                                                         \
    for (type *it = list_entry((l)->next, type, member); &it->member != (l);                       \
         it = list_entry(it->member.next, type, member))
/* The current element may be removed and freed inside the loop. */
#define list_for_each_safe(it, l, type, member)                                                    \
    for (type *it = list_entry((l)->next, type, member),                                           \
              *it##_next = list_entry(it->member.next, type, member);                              \
         &it->member != (l);                                                                       \
         it = it##_next, it##_next = list_entry(it->member.next, type, member))
