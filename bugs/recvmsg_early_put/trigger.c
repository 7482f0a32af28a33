#include "../trigger.h"
#include <pthread.h>

static int pair[2];

static void *receiver(void *arg)
{
    char byte;
    struct iovec piece = {&byte, 1};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
    recvmsg(pair[0], &message, 0);
    return arg;
}

/* The call that waits for a message holds the last reference of the socket. */
int main(void)
{
    pthread_t thread;
    NEED(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
    pthread_create(&thread, NULL, receiver, NULL);
    usleep(1000);
    close(pair[0]);
    NEED(write(pair[1], "x", 1));
    pthread_join(thread, NULL);
    return 0;
}
