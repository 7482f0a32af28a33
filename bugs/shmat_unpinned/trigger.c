#include "../trigger.h"
#include <pthread.h>
#include <sys/shm.h>

static volatile int done, id;

static void *attacher(void *arg)
{
    while (!done) {
        void *at = shmat(id, NULL, 0);
        if (at != (void *)-1)
            shmdt(at);
    }
    return arg;
}

int main(void)
{
    pthread_t thread;
    id = (int)NEED(shmget(IPC_PRIVATE, 4096, 0600));
    pthread_create(&thread, NULL, attacher, NULL);
    for (int i = 0; i < 600; i++) {
        shmctl(id, IPC_RMID, NULL);
        id = (int)NEED(shmget(IPC_PRIVATE, 4096, 0600));
    }
    done = 1;
    pthread_join(thread, NULL);
    return 0;
}
