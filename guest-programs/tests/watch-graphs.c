/*
 * Epolls and kqueues that watch each other. The kernel must refuse what closes a loop, and paths of
 * more than four edges for an epoll that watches, of eight for a kqueue; and an event must reach
 * every queue above it. Random graphs are compared with the program's own model of them.
 *
 *     watch-graphs [graphs] [seed]
 */
#include "check.h"
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <time.h>

#include "../include/bsd/event.h"

#define EPOLL_EDGES  4
#define KQUEUE_EDGES 8

static unsigned long graphs = 40, seed = 1;

static unsigned pick(unsigned n)
{
    seed = seed * 6364136223846793005UL + 1442695040888963407UL;
    return (unsigned)(seed >> 33) % n;
}

/* 0 or errno. The kernel must not care whether by is an epoll or a kqueue. */
static int watch(bool epoll, int by, int fd, short filter)
{
    struct epoll_event event = {.events = filter == EVFILT_READ ? EPOLLIN : EPOLLOUT};
    struct kevent change;

    EV_SET(&change, fd, filter, EV_ADD, 0, 0, NULL);
    return (epoll ? epoll_ctl(by, EPOLL_CTL_ADD, fd, &event)
                  : kevent(by, &change, 1, NULL, 0, NULL))
               ? errno
               : 0;
}

static int unwatch(bool epoll, int by, int fd, short filter)
{
    struct kevent change;

    EV_SET(&change, fd, filter, EV_DELETE, 0, 0, NULL);
    return (epoll ? epoll_ctl(by, EPOLL_CTL_DEL, fd, NULL) : kevent(by, &change, 1, NULL, 0, NULL))
               ? errno
               : 0;
}

static int new_queue(bool epoll)
{
    return epoll ? epoll_create1(0) : kqueue();
}

/* On OpenBSD a task passes an event on, so one that must come is waited for. */
static bool readable(int fd, bool expected)
{
    struct pollfd p = {fd, POLLIN, 0};

    return poll(&p, 1, expected ? 2000 : 0) == 1;
}

static void the_two_kinds_do_not_watch_each_other(void)
{
    int kq = kqueue(), ep = epoll_create1(0), p[2];

    CHECK(kq >= 0 && ep >= 0 && pipe(p) == 0);
    CHECK(watch(true, ep, kq, EVFILT_READ) == 0);
    CHECK(watch(false, kq, ep, EVFILT_READ) == EINVAL);
    CHECK(watch(false, kq, ep, EVFILT_WRITE) == EINVAL);
    CHECK(watch(false, kq, p[0], EVFILT_READ) == 0 && !readable(ep, false));
    CHECK(write(p[1], "a", 1) == 1 && readable(ep, true));
    CHECK(unwatch(true, ep, kq, EVFILT_READ) == 0 && watch(false, kq, ep, EVFILT_READ) == 0);
    CHECK(watch(true, ep, kq, EVFILT_READ) == ELOOP);
    close(kq), close(ep), close(p[0]), close(p[1]);
}

static void a_chain_ends_at_its_top_and_at_its_bottom(void)
{
    for (int epoll = 0; epoll < 2; epoll++) {
        int max = epoll ? EPOLL_EDGES : KQUEUE_EDGES, fds[KQUEUE_EDGES + 2], p[2];

        for (int upwards = 0; upwards < 2; upwards++) {
            for (int i = 0; i <= max + 1; i++)
                CHECK((fds[i] = new_queue(epoll)) >= 0);
            for (int i = 0; i <= max; i++) {
                int from = upwards ? i + 1 : i, to = upwards ? i : i + 1;
                int expected = i < max ? 0 : epoll ? ELOOP : EINVAL;

                CHECK(watch(epoll, fds[from], fds[to], EVFILT_READ) == expected);
            }
            CHECK(pipe(p) == 0 && watch(epoll, fds[upwards ? 0 : max], p[0], EVFILT_READ) == 0);
            CHECK(!readable(fds[upwards ? max : 0], false) && write(p[1], "a", 1) == 1);
            CHECK(readable(fds[upwards ? max : 0], true));
            close(p[0]), close(p[1]);
            for (int i = 0; i <= max + 1; i++)
                close(fds[i]);
        }
    }
}

/* An epoll and a kqueue in turn: the limit is that of the queue that watches. */
static void kinds_share_a_chain(void)
{
    int fds[KQUEUE_EDGES + 2];

    for (int i = 0; i < KQUEUE_EDGES + 2; i++)
        CHECK((fds[i] = new_queue(i & 1)) >= 0);
    for (int i = 0; i < EPOLL_EDGES; i++) /* fds[i + 1] watches fds[i] */
        CHECK(watch(!(i & 1), fds[i + 1], fds[i], EVFILT_READ) == 0);
    CHECK(watch(true, fds[EPOLL_EDGES + 1], fds[EPOLL_EDGES], EVFILT_READ) == ELOOP);
    CHECK(watch(false, fds[EPOLL_EDGES + 2], fds[EPOLL_EDGES], EVFILT_READ) == 0);
    CHECK(watch(true, fds[EPOLL_EDGES + 3], fds[EPOLL_EDGES + 2], EVFILT_READ) == ELOOP);
    for (int i = 0; i < KQUEUE_EDGES + 2; i++)
        close(fds[i]);
}

/*
 * Every queue of a layer watches every one below it by several descriptors. A search of all paths,
 * 1.7 million from each queue, would take a tenth of a second at least.
 */
static void a_search_visits_each_queue_once(void)
{
    int fds[EPOLL_EDGES + 1][6][6], top = epoll_create1(0);
    struct timespec from, to;

    for (int layer = 0; layer <= EPOLL_EDGES; layer++)
        for (int i = 0; i < 6; i++) {
            CHECK((fds[layer][i][0] = epoll_create1(0)) >= 0);
            for (int d = 1; d < 6; d++)
                CHECK((fds[layer][i][d] = dup(fds[layer][i][0])) >= 0);
        }
    for (int layer = 0; layer < EPOLL_EDGES; layer++)
        for (int i = 0; i < 6; i++)
            for (int k = 0; k < 36; k++)
                CHECK(watch(true, fds[layer][i][0], fds[layer + 1][k / 6][k % 6], EVFILT_READ) ==
                      0);
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int i = 0; i < 6; i++)
        CHECK(watch(true, top, fds[0][i][0], EVFILT_READ) == ELOOP);
    clock_gettime(CLOCK_MONOTONIC, &to);
    CHECK((to.tv_sec - from.tv_sec) * 1000 + (to.tv_nsec - from.tv_nsec) / 1000000 < 100);
    CHECK(watch(true, top, fds[1][0][0], EVFILT_READ) == 0);
    for (int layer = 0; layer <= EPOLL_EDGES; layer++)
        for (int i = 0; i < 36; i++)
            close(fds[layer][i / 6][i % 6]);
    close(top);
}

/* The model: by the number of the queue, a descriptor of each, and what watches what. */

#define QUEUES 14
#define NAMES  2 /* descriptors of each queue */
#define PIPES  2
#define FILES  (QUEUES + PIPES)

static struct {
    bool epoll;
    int fds[NAMES];
} queues[QUEUES];
static int pipes[PIPES][2];
static bool full[PIPES];
static bool edges[QUEUES][FILES][NAMES][2]; /* the last index: EVFILT_READ, EVFILT_WRITE */

static int fd_of(int file, int name)
{
    return file < QUEUES ? queues[file].fds[name] : pipes[file - QUEUES][0];
}

/* An epoll has one item for a descriptor, so only the index 0 of its edges is used. */
static bool has_edge(int from, int to)
{
    for (int i = 0; i < NAMES * 2; i++)
        if (edges[from][to][i / 2][i % 2])
            return true;
    return false;
}

/* Can data come from file to queue? Only a watcher for reading passes them on. */
static bool reads(int queue, int file)
{
    for (int name = 0; name < NAMES; name++)
        if (edges[queue][file][name][0])
            return true;
    return false;
}

/* The longest path that starts (or with up ends) at each queue; there are no loops. */
static void longest_paths(int length[QUEUES], bool up)
{
    memset(length, 0, QUEUES * sizeof(*length));
    for (int round = 0; round < QUEUES; round++)
        for (int i = 0; i < QUEUES; i++)
            for (int j = 0; j < QUEUES; j++)
                if ((up ? has_edge(j, i) : has_edge(i, j)) && length[i] < length[j] + 1)
                    length[i] = length[j] + 1;
}

static bool reaches(int from, int to)
{
    bool seen[QUEUES] = {0};

    seen[from] = true;
    for (int round = 0; round < QUEUES; round++)
        for (int i = 0; i < QUEUES; i++)
            for (int j = 0; seen[i] && j < QUEUES; j++)
                seen[j] |= has_edge(i, j);
    return seen[to];
}

static int expected_error(int by, int file)
{
    int down[QUEUES], up[QUEUES];
    bool epoll = queues[by].epoll;

    if (by == file)
        return EINVAL;
    if (file >= QUEUES)
        return 0;
    longest_paths(down, false), longest_paths(up, true);
    if (reaches(file, by) || up[by] + 1 + down[file] > (epoll ? EPOLL_EDGES : KQUEUE_EDGES))
        return epoll ? ELOOP : EINVAL;
    return 0;
}

static void make_queue(int i)
{
    queues[i].epoll = pick(2);
    queues[i].fds[0] = new_queue(queues[i].epoll);
    queues[i].fds[1] = dup(queues[i].fds[0]);
    for (int j = 0; j < FILES; j++) {
        memset(edges[i][j], 0, sizeof(edges[i][j]));
        if (j < QUEUES)
            memset(edges[j][i], 0, sizeof(edges[j][i]));
    }
}

static void close_queue(int i)
{
    close(queues[i].fds[0]);
    close(queues[i].fds[1]);
}

static void check_readiness(void)
{
    bool ready[FILES] = {0};

    for (int i = 0; i < PIPES; i++)
        ready[QUEUES + i] = full[i];
    for (int round = 0; round < QUEUES; round++)
        for (int i = 0; i < QUEUES; i++)
            for (int j = 0; j < FILES; j++)
                ready[i] |= ready[j] && reads(i, j);
    for (int i = 0; i < QUEUES; i++)
        CHECK(readable(queues[i].fds[0], ready[i]) == ready[i]);
}

static int refused, accepted;

static void one_step(void)
{
    int by = (int)pick(QUEUES), file = (int)pick(FILES), name = (int)pick(NAMES), expected;
    bool epoll = queues[by].epoll, write_too = pick(4) == 0;
    short filter = write_too ? EVFILT_WRITE : EVFILT_READ;
    bool *edge;

    if (file >= QUEUES)
        name = 0, filter = EVFILT_READ;
    edge = &edges[by][file][name][filter == EVFILT_WRITE];
    if (epoll)
        edge = &edges[by][file][name][0], filter = EVFILT_READ;
    switch (pick(16)) {
    case 0: /* the last descriptor of a queue goes, and another queue comes */
        close_queue(by), make_queue(by);
        return;
    case 1:
    case 2:
        if (*edge) {
            CHECK(unwatch(epoll, queues[by].fds[0], fd_of(file, name), filter) == 0);
            *edge = false;
        }
        return;
    case 3:
        file = (int)pick(PIPES);
        full[file] = !full[file];
        if (full[file])
            CHECK(write(pipes[file][1], "a", 1) == 1);
        else
            CHECK(read(pipes[file][0], &(char){0}, 1) == 1);
        return;
    }
    expected = *edge ? (epoll ? EEXIST : 0) : expected_error(by, file);
    CHECK(watch(epoll, queues[by].fds[pick(NAMES)], fd_of(file, name), filter) == expected);
    if (expected && expected != EEXIST)
        refused++;
    else if (!expected)
        *edge = true, accepted++;
}

static void random_graphs_follow_the_model(void)
{
    for (unsigned long graph = 0; graph < graphs; graph++) {
        for (int i = 0; i < PIPES; i++) {
            CHECK(pipe(pipes[i]) == 0);
            full[i] = false;
        }
        for (int i = 0; i < QUEUES; i++)
            make_queue(i);
        for (int i = 0; i < 160; i++) {
            one_step();
            if (i % 16 == 0 && !check_failed)
                check_readiness();
            if (check_failed)
                return;
        }
        for (int i = 0; i < QUEUES; i++)
            close_queue(i);
        for (int i = 0; i < PIPES; i++)
            close(pipes[i][0]), close(pipes[i][1]);
    }
    CHECK(refused > (int)graphs && accepted > (int)graphs);
    printf("# %d edges accepted, %d refused\n", accepted, refused);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        graphs = strtoul(argv[1], NULL, 0);
    if (argc > 2)
        seed = strtoul(argv[2], NULL, 0);
    RUN(the_two_kinds_do_not_watch_each_other);
    RUN(a_chain_ends_at_its_top_and_at_its_bottom);
    RUN(kinds_share_a_chain);
    RUN(a_search_visits_each_queue_once);
    RUN(random_graphs_follow_the_model);
    DONE();
}
