#include "../trigger.h"

#define KERNEL_ADDRESS 0xffffffff80100000UL /* RAM in front of the kernel's image */

int main(void)
{
    pid_t child = (pid_t)NEED(fork());
    if (child == 0)
        _exit(0);
    if (syscall(SYS_waitid, P_PID, child, KERNEL_ADDRESS, WEXITED, NULL) == 0)
        WRONG("waitid wrote to a kernel address");
    return 0;
}
