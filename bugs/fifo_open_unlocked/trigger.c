#include "../trigger.h"
#include <pthread.h>

static void *opener(void *arg)
{
    for (int i = 0; i < 3000; i++) {
        int fd = open("/fifo", O_RDWR | O_NONBLOCK);
        if (fd >= 0)
            close(fd);
        for (volatile int wait = 0; arg && wait < i % 997; wait++)
            ; /* meets the other thread at another moment each time */
    }
    return arg;
}

int main(void)
{
    pthread_t thread;
    NEED(mkfifo("/fifo", 0600));
    pthread_create(&thread, NULL, opener, &thread);
    opener(NULL);
    pthread_join(thread, NULL);
    return 0;
}
