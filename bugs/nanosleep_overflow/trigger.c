#include "../trigger.h"
#include <sys/time.h>

static void nothing(int signal)
{
    (void)signal;
}

int main(void)
{
    struct timespec centuries = {18446744074, 0}; /* in ns a little more than 2^64 */
    struct itimerval wake = {.it_value = {5, 0}};
    signal(SIGALRM, nothing);
    NEED(setitimer(ITIMER_REAL, &wake, NULL));
    if (nanosleep(&centuries, NULL) == 0)
        WRONG("a sleep of 584 years ended within 5 seconds");
    return 0;
}
