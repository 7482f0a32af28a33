#include "../trigger.h"
#include <pthread.h>

static int ends[2], out[2];

static void *writer(void *arg)
{
    char byte;
    for (int i = 0; i < 3000; i++) {
        NEED(write(ends[1], "x", 1));
        NEED(read(out[0], &byte, 1)); /* waits for the byte on the other side */
    }
    return arg;
}

int main(void)
{
    pthread_t thread;
    NEED(pipe(ends));
    NEED(pipe(out));
    pthread_create(&thread, NULL, writer, NULL);
    for (int i = 0; i < 3000; i++)
        NEED(splice(ends[0], NULL, out[1], NULL, 1, 0));
    pthread_join(thread, NULL);
    return 0;
}
