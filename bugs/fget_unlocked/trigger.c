#include "../trigger.h"
#include <pthread.h>

static int fd;
static volatile int done;

static void *user(void *arg)
{
    struct stat st;
    while (!done)
        fstat(fd, &st);
    return arg;
}

int main(void)
{
    pthread_t thread;
    fd = (int)NEED(open("/dev/null", O_RDONLY));
    pthread_create(&thread, NULL, user, NULL);
    for (int i = 0; i < 1000; i++) {
        close(fd);
        open("/dev/null", O_RDONLY);
    }
    done = 1;
    pthread_join(thread, NULL);
    return 0;
}
