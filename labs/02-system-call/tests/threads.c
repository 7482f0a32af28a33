/* One thread maps, touches and unmaps; the others count. */
#include "../check.h"
#include <pthread.h>
#include <sys/mman.h>

#define PAGE   4096UL
#define ROUNDS 60

static char *volatile area;
static volatile int over;

static void *count(void *unused)
{
    while (!over) {
        char *p = area;
        long n = p ? syscall(500, p, 8 * PAGE) : 0;

        if (n > 8 || (n < 0 && errno != ENOMEM))
            return (void *)1;
    }
    return unused;
}

static void while_others_count(void)
{
    pthread_t threads[2];
    void *bad = NULL;

    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, count, NULL) == 0);
    for (int round = 0; round < ROUNDS; round++) {
        char *p = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        area = p;
        for (int i = 0; i < 8; i++)
            p[i * PAGE] = 1;
        area = NULL;
        munmap(p, 8 * PAGE);
    }
    over = 1;
    for (int i = 0; i < 2; i++) {
        void *end;

        pthread_join(threads[i], &end);
        bad = end ? end : bad;
    }
    CHECK(!bad);
}

int main(void)
{
    RUN(while_others_count);
    DONE();
}
