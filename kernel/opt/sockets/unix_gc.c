/*
 * unix_gc.c: collects sockets that only messages refer to.
 *
 * A queued message holds references of the files it carries. If a socket's file has no other
 * references, a program can still get the socket by receiving that message, provided it can reach
 * the queue. Sockets that lie in one another's queues are unreachable, and reference counts alone
 * would never free them. So each close of a socket marks the reachable sockets and frees all other
 * messages in flight: mark and sweep, as in Linux (net/unix/garbage.c).
 *
 * unix_mutex is held throughout: no file enters or leaves a queue meanwhile. References that system
 * calls take or drop are not in queues, so an inexact count can only keep a socket too long.
 */
#include "unix.h"
#include "klib.h"

static struct list in_flight = LIST_INIT(in_flight); /* messages that carry sockets */

void unix_in_flight(struct message *m)
{
    for (u32 i = 0; i < m->nfiles; i++) {
        if (unix_of(m->files[i])) {
            list_push_back(&in_flight, &m->in_flight);
            break;
        }
    }
}

/* The socket that receives m, or the listener that still has to accept that socket. */
static struct usock *reader(const struct message *m)
{
    return m->to->listener ? m->to->listener : m->to;
}

static void reset(struct usock *s)
{
    s->queued = 0;
    s->reached = false;
}

static void count_queued(void)
{
    list_for_each(m, &in_flight, struct message, in_flight) {
        reset(reader(m));
        for (u32 i = 0; i < m->nfiles; i++)
            if (unix_of(m->files[i]))
                reset(unix_of(m->files[i]));
    }
    list_for_each(m, &in_flight, struct message, in_flight)
        for (u32 i = 0; i < m->nfiles; i++)
            if (unix_of(m->files[i]))
                unix_of(m->files[i])->queued++;
}

static void reach(struct usock *s, struct list *to_visit)
{
    if (!s || s->reached)
        return;
    s->reached = true;
    list_push_back(to_visit, &s->to_visit);
}

static void reach_files(const struct message *m, struct list *to_visit)
{
    for (u32 i = 0; i < m->nfiles; i++)
        reach(unix_of(m->files[i]), to_visit);
}

static void reach_queue(struct usock *s, struct list *to_visit)
{
    list_for_each(m, &s->rx, struct message, link)
        reach_files(m, to_visit);
}

/* Marks from the roots: sockets that are in no queue, and those with references besides queues. */
static void mark(void)
{
    struct list to_visit = LIST_INIT(to_visit);

    list_for_each(m, &in_flight, struct message, in_flight) {
        if (!reader(m)->queued)
            reach_files(m, &to_visit);
        for (u32 i = 0; i < m->nfiles; i++) {
            struct usock *s = unix_of(m->files[i]);

            if (s && atomic_load(&m->files[i]->refs) > s->queued)
                reach(s, &to_visit);
        }
    }
    while (!list_empty(&to_visit)) {
        struct usock *s = list_first(&to_visit, struct usock, to_visit);

        list_remove(&s->to_visit);
        reach_queue(s, &to_visit);
        list_for_each(child, &s->backlog, struct usock, in_backlog)
            reach_queue(child, &to_visit);
    }
}

void unix_collect(struct list *dead)
{
    if (list_empty(&in_flight))
        return;
    count_queued();
    mark();
    list_for_each_safe(m, &in_flight, struct message, in_flight) {
        if (!reader(m)->queued || reader(m)->reached)
            continue;
        unix_unqueue(m);
        list_push_back(dead, &m->link);
    }
}
