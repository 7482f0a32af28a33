/* A bug of depth 2, in 100 rounds: a pointer goes between its check and its use. */
#include <pthread.h>
#include <stdlib.h>

enum { ROUNDS = 100 };
static int value = 1;
static int *volatile shared;
static volatile int round_of[2], sum;

/* Both threads begin a round together. */
static void meet(int self, int round)
{
    round_of[self] = round;
    while (round_of[!self] < round)
        ;
}

static void *reader(void *unused)
{
    for (int round = 1; round <= ROUNDS; round++) {
        shared = &value;
        meet(0, round);
        for (int i = 0; i < 20; i++)
            sum += i;
        if (shared != NULL)
            sum += *shared;
    }
    return unused;
}

static void *closer(void *unused)
{
    for (int round = 1; round <= ROUNDS; round++) {
        meet(1, round);
        for (int i = 0; i < 10; i++)
            sum += i;
        shared = NULL;
    }
    return unused;
}

int main(void)
{
    pthread_t threads[2];

    pthread_create(&threads[0], NULL, reader, NULL);
    pthread_create(&threads[1], NULL, closer, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
