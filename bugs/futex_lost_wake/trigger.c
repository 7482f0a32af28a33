#include "../trigger.h"
#include <linux/futex.h>
#include <pthread.h>

static uint32_t turn;

/* Two threads take turns; a lost wake-up leaves both asleep. */
static void *player(void *arg)
{
    uint32_t me = (uint32_t)(uintptr_t)arg;
    for (int i = 0; i < 3000; i++) {
        while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != me)
            syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, !me, NULL);
        __atomic_store_n(&turn, !me, __ATOMIC_RELEASE);
        syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1);
    }
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, player, (void *)1);
    player((void *)0);
    pthread_join(thread, NULL);
    return 0;
}
