#include "../trigger.h"

int main(void)
{
    siginfo_t info;
    sigset_t set;
    int bytes = 0;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    NEED(sigprocmask(SIG_BLOCK, &set, NULL));
    NEED(syscall(SYS_tkill, getpid(), SIGUSR1));
    NEED(sigwaitinfo(&set, &info));
    for (size_t i = offsetof(siginfo_t, si_value); i < sizeof(info); i++)
        bytes += ((unsigned char *)&info)[i] != 0;
    if (bytes)
        WRONG("siginfo of tkill has %d bytes of the kernel's stack", bytes);
    return 0;
}
