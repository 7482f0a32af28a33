/*
 * The pages of a process with two threads are copied: the other thread sees every write and nothing
 * else, and a child that ends meanwhile takes no page away.
 */
#include "../check.h"
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define PAGE   4096UL
#define PAGES  32
#define ROUNDS 3

static char *area;
static volatile long seen; /* the reader has seen this round in all pages */

/* The last word of a page: a copy has it last. */
static volatile long *word(int page)
{
    return (volatile long *)(area + (page + 1) * PAGE) - 1;
}

static void map(void)
{
    area = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < PAGES; i++)
        *word(i) = 1;
}

static void *watch(void *arg)
{
    long last[PAGES] = {0};

    while (seen < ROUNDS) {
        long least = ROUNDS;

        for (int i = 0; i < PAGES; i++) {
            long now = *word(i);

            if (now < last[i] || now > ROUNDS)
                return (void *)1;
            last[i] = now;
            if (now < least)
                least = now;
        }
        seen = least;
    }
    return arg;
}

static void a_reader_sees_every_write(void)
{
    pthread_t thread;
    void *bad;

    map();
    CHECK(pthread_create(&thread, NULL, watch, NULL) == 0);
    for (long round = 2; round <= ROUNDS; round++) {
        int status, way[2];
        char c;
        pid_t pid;

        CHECK(pipe(way) == 0);
        pid = fork();
        if (pid == 0) { /* it keeps the pages, so that the writes below must copy them */
            close(way[1]);
            _exit(read(way[0], &c, 1) != 0 || *word(0) != round - 1);
        }
        for (int i = 0; i < PAGES; i++)
            *word(i) = round;
        for (int i = 0; seen < round && i < 1000000; i++)
            ;
        CHECK(seen >= round);
        close(way[0]);
        close(way[1]);
        CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    }
    pthread_join(thread, &bad);
    CHECK(!bad);
}

static void a_child_that_ends_takes_nothing_away(void)
{
    map();
    for (long round = 2; round <= ROUNDS; round++) {
        int status, right = 1;
        pid_t pid = fork();

        if (pid == 0) {
            *word(PAGES - 1) = 0;
            _exit(0);
        }
        for (int i = 0; i < PAGES; i++)
            *(volatile long *)(area + i * PAGE) = round;
        for (int i = 0; i < PAGES; i++)
            right &= *word(i) == 1 && *(volatile long *)(area + i * PAGE) == round;
        CHECK(right);
        CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    }
}

int main(void)
{
    RUN(a_reader_sees_every_write);
    RUN(a_child_that_ends_takes_nothing_away);
    DONE();
}
