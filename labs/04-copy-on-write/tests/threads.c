/* A thread reads a page while another one forks and writes to it: the reader sees every write. */
#include "../check.h"
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define ROUNDS 12

static volatile long *word;
static volatile long seen;

static void *watch(void *arg)
{
    long last = 0;

    while (last < ROUNDS) {
        long now = *word;

        if (now < last)
            return (void *)1;
        last = now;
        seen = now;
    }
    return arg;
}

static void a_reader_sees_every_write(void)
{
    pthread_t thread;
    void *bad;

    word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *word = 0;
    CHECK(pthread_create(&thread, NULL, watch, NULL) == 0);
    for (long round = 1; round <= ROUNDS; round++) {
        int status, way[2];
        char c;
        pid_t pid;

        CHECK(pipe(way) == 0);
        pid = fork();
        if (pid == 0) { /* it keeps the page, so that the write below must copy it */
            close(way[1]);
            _exit(read(way[0], &c, 1) != 0 || *word != round - 1);
        }
        *word = round;
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

int main(void)
{
    RUN(a_reader_sees_every_write);
    DONE();
}
