#include "../trigger.h"

int main(int argc, char **argv)
{
    struct itimerspec soon = {.it_value = {0, 50000000}};
    volatile unsigned long spin = 0;
    timer_t timer;
    if (argc > 1) { /* the new program uses the CPU time that the old timer waits for */
        while (spin < 30000000)
            spin++;
        return 0;
    }
    NEED(timer_create(CLOCK_PROCESS_CPUTIME_ID, NULL, &timer));
    NEED(timer_settime(timer, 0, &soon, NULL));
    NEED(execl("/proc/self/exe", argv[0], "again", NULL));
}
