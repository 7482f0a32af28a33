#include "../trigger.h"

/* The n-th allocation of a fork fails, for each n until the fork succeeds. */
int main(void)
{
    char text[16];
    int fail = (int)NEED(open("/dev/fail-nth", O_RDWR));
    for (int n = 1; n < 40; n++) {
        pid_t child;
        int length = snprintf(text, sizeof(text), "%d", n);
        NEED(pwrite(fail, text, (size_t)length, 0));
        child = fork();
        if (child == 0)
            _exit(0);
        pread(fail, text, sizeof(text), 0); /* disarms */
        if (child > 0)
            waitpid(child, NULL, 0);
    }
    return 0;
}
