/* The frame of a workload on the host: the same lines as bench/guest/main.c. */
#include <stdio.h>
#include "programs/work.h"

int main(void)
{
    u64 check = 0;
    for (int i = 0; i < WARM_UP; i++)
        check += work();
    puts("begin");
    fflush(stdout);
    for (int i = 0; i < REPEAT; i++)
        check += work();
    printf("end %016llx\n", check);
    fflush(stdout);
    return 0;
}
