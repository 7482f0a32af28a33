#include "../trigger.h"
#include <poll.h>

static void send_files(int socket, const int *fds, size_t count)
{
    char control[CMSG_SPACE(64 * sizeof(int))] = {0}, byte = 0;
    struct iovec piece = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &piece,
        .msg_iovlen = 1,
        .msg_control = control,
        .msg_controllen = CMSG_SPACE(count * sizeof(int)),
    };
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    *header = (struct cmsghdr){CMSG_LEN(count * sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
    memcpy(CMSG_DATA(header), fds, count * sizeof(int));
    sendmsg(socket, &message, 0);
}

int main(void)
{
    int pair[2], pipes[2];
    char byte;
    struct iovec piece = {&byte, 1};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1}; /* no room for descriptors */
    NEED(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
    NEED(pipe(pipes));
    send_files(pair[0], &pipes[1], 1);
    close(pipes[1]);
    NEED(recvmsg(pair[1], &message, 0));
    struct pollfd end = {pipes[0], POLLIN, 0};
    NEED(poll(&end, 1, 0));
    if (!(end.revents & POLLHUP))
        WRONG("a descriptor that was discarded keeps the end of a pipe open");
    return 0;
}
