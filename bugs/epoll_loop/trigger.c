#include "../trigger.h"
#include <sys/epoll.h>

int main(void)
{
    struct epoll_event event = {.events = EPOLLIN};
    int a = (int)NEED(epoll_create1(0)), b = (int)NEED(epoll_create1(0)), ends[2];
    NEED(pipe(ends));
    NEED(epoll_ctl(a, EPOLL_CTL_ADD, b, &event));
    if (epoll_ctl(b, EPOLL_CTL_ADD, a, &event) == -1)
        return 0; /* ELOOP */
    NEED(epoll_ctl(a, EPOLL_CTL_ADD, ends[0], &event));
    NEED(write(ends[1], "x", 1)); /* wakes a, which wakes b, which wakes a */
    WRONG("two epolls watch each other");
}
