#include "../trigger.h"

int main(void)
{
    struct sigevent event = {.sigev_notify = 0x1234, .sigev_signo = SIGALRM};
    timer_t timer;
    if (syscall(SYS_timer_create, CLOCK_REALTIME, &event, &timer) == 0)
        WRONG("a timer with an unknown way to notify");
    return 0;
}
