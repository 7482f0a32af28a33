#include "../trigger.h"

int main(void)
{
    int ends[2];
    NEED(pipe(ends));
    if (syscall(SYS_fcntl, ends[0], F_SETPIPE_SZ, 1UL << 32 | 8192) != -1)
        WRONG("a pipe of 2^32 + 8192 bytes");
    return 0;
}
