#include "../trigger.h"
#include <pthread.h>

static int pair[2];
static volatile int done;

static void receive(int flags)
{
    char control[CMSG_SPACE(sizeof(int))], byte;
    struct iovec piece = {&byte, 1};
    struct msghdr message = {.msg_iov = &piece,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof(control)};
    if (recvmsg(pair[1], &message, flags | MSG_DONTWAIT) > 0 && CMSG_FIRSTHDR(&message))
        close(*(int *)CMSG_DATA(CMSG_FIRSTHDR(&message)));
}

static void *peeker(void *arg)
{
    while (!done)
        receive(MSG_PEEK);
    return arg;
}

int main(void)
{
    char control[CMSG_SPACE(sizeof(int))] = {0}, byte = 0;
    struct iovec piece = {&byte, 1};
    struct msghdr message = {.msg_iov = &piece,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof(control)};
    pthread_t thread;
    *CMSG_FIRSTHDR(&message) = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
    NEED(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
    pthread_create(&thread, NULL, peeker, NULL);
    for (int i = 0; i < 600; i++) {
        int fd = (int)NEED(open("/dev/null", O_RDONLY));
        memcpy(CMSG_DATA(CMSG_FIRSTHDR(&message)), &fd, sizeof(fd));
        sendmsg(pair[0], &message, MSG_DONTWAIT);
        close(fd);
        for (volatile int wait = 0; wait < i % 61; wait++)
            ; /* meets the peeker at another moment each time */
        receive(0);
    }
    done = 1;
    pthread_join(thread, NULL);
    return 0;
}
