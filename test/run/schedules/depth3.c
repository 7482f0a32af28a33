/* A bug of depth 3, in 1,000 rounds: each of two threads must be interrupted at its place. */
#include <pthread.h>
#include <stdlib.h>

enum { ROUNDS = 1000 };
static volatile int state, seen, round_of[2];

/* Both threads begin a round together. */
static void meet(int self, int round)
{
    round_of[self] = round;
    while (round_of[!self] < round)
        ;
}

static void *first(void *unused)
{
    for (int round = 1; round <= ROUNDS; round++) {
        state = seen = 0;
        meet(0, 2 * round);
        state = 1;
        if (state == 2)
            seen = 1;
        meet(0, 2 * round + 1);
    }
    return unused;
}

static void *second(void *unused)
{
    for (int round = 1; round <= ROUNDS; round++) {
        meet(1, 2 * round);
        if (state == 1) {
            state = 2;
            if (seen)
                abort();
        }
        meet(1, 2 * round + 1);
    }
    return unused;
}

int main(void)
{
    pthread_t threads[2];

    pthread_create(&threads[0], NULL, first, NULL);
    pthread_create(&threads[1], NULL, second, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
