/* A data race: two threads add to one counter without a lock. With --smp 2, --sched-seed chooses
 * the interleaving; the same seed gives the same sum every time. */
#include <pthread.h>
#include <stdio.h>

enum { ROUNDS = 20000 };
static volatile int counter;

static void *add(void *unused)
{
    for (int i = 0; i < ROUNDS; i++)
        counter++; /* load, add, store: the other thread may store in between */
    return unused;
}

int main(void)
{
    pthread_t threads[2];

    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, add, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%d of %d additions\n", counter, 2 * ROUNDS);
    return 0;
}
