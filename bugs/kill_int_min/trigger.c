#include "../trigger.h"

int main(void)
{
    syscall(SYS_kill, (long)INT32_MIN, 0);
    return 0;
}
