#include "../trigger.h"
#include <pthread.h>
#include <sys/shm.h>

static volatile int done;

static void *reader(void *arg)
{
    struct shm_info info;
    while (!done)
        shmctl(0, SHM_INFO, (struct shmid_ds *)&info);
    return arg;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, reader, NULL);
    for (int i = 0; i < 600; i++) {
        int id = (int)NEED(shmget(IPC_PRIVATE, 4096, 0600));
        NEED(shmctl(id, IPC_RMID, NULL));
    }
    done = 1;
    pthread_join(thread, NULL);
    return 0;
}
