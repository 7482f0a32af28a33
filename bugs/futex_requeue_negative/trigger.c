#include "../trigger.h"
#include <linux/futex.h>

int main(void)
{
    static int from, to;
    if (syscall(SYS_futex, &from, FUTEX_CMP_REQUEUE, 1, -1, &to, 0) != -1 || errno != EINVAL)
        WRONG("FUTEX_CMP_REQUEUE of -1 waiters is not refused");
    return 0;
}
