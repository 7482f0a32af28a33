#include "../trigger.h"

int main(void)
{
    struct itimerspec long_ago = {.it_interval = {0, 1000000}, .it_value = {1, 0}};
    siginfo_t info;
    sigset_t set;
    timer_t timer;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    NEED(sigprocmask(SIG_BLOCK, &set, NULL));
    NEED(timer_create(CLOCK_REALTIME, NULL, &timer));
    /* A period of 1 ms since 1970: more expirations than an int can count. */
    NEED(timer_settime(timer, TIMER_ABSTIME, &long_ago, NULL));
    NEED(sigwaitinfo(&set, &info));
    int overruns = (int)NEED(timer_getoverrun(timer));
    if (overruns != INT32_MAX)
        WRONG("%d overruns in place of the most that an int can count", overruns);
    return 0;
}
