#include "../trigger.h"
#include <sys/epoll.h>
#include <sys/signalfd.h>

int main(void)
{
    struct epoll_event event = {.events = EPOLLIN};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    int signals = (int)NEED(signalfd(-1, &set, 0)), queue = (int)NEED(epoll_create1(0));
    pid_t child = (pid_t)NEED(fork());
    if (child == 0) { /* epoll waits on the signal queue of the process that adds the descriptor */
        NEED(epoll_ctl(queue, EPOLL_CTL_ADD, signals, &event));
        _exit(0);
    }
    NEED(waitpid(child, NULL, 0));
    close(queue); /* takes the waiter off the queue of a process that is gone */
    return 0;
}
