#include "../trigger.h"
#include <pthread.h>

enum { FEW = 2, MANY = 200 };
static union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(MANY * sizeof(int))];
} control;
static volatile int done;

static void *changer(void *arg)
{
    while (!done) {
        *(volatile size_t *)&control.header.cmsg_len = CMSG_LEN(FEW * sizeof(int));
        *(volatile size_t *)&control.header.cmsg_len = CMSG_LEN(MANY * sizeof(int));
    }
    return arg;
}

int main(void)
{
    int pair[2];
    char byte = 0;
    struct iovec piece = {&byte, 1};
    struct msghdr message = {.msg_iov = &piece,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control)};
    pthread_t thread;
    control.header = (struct cmsghdr){CMSG_LEN(FEW * sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
    NEED(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
    pthread_create(&thread, NULL, changer, NULL);
    for (int i = 0; i < 600; i++) {
        char all[64];
        sendmsg(pair[0], &message, MSG_DONTWAIT);
        recv(pair[1], all, sizeof(all), MSG_DONTWAIT);
    }
    done = 1;
    pthread_join(thread, NULL);
    return 0;
}
