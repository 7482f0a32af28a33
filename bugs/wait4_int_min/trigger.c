#include "../trigger.h"

int main(void)
{
    syscall(SYS_wait4, (long)INT32_MIN, NULL, WNOHANG, NULL);
    return 0;
}
