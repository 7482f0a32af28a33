/*
 * unix_gc.c: collects sockets that only messages refer to.
 *
 * A queued message holds references of the files it carries. A socket whose file has no others may
 * still be received, if the socket in whose queue it is can be; sockets in one another's queues can
 * not, and would stay for good. So whenever a socket closes, everything that can be received is
 * marked, and the other messages are freed (Linux: net/unix/garbage.c). All under unix_mutex: while
 * it is held no file goes into a queue or out of one, and a reference that is taken or dropped
 * meanwhile is not a queue's, so that counting too many is the worst that happens.
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

/* The socket that receives m, or accepts the socket that will. */
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

/* From sockets that are in no queue, and from those that somebody has open besides. */
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
