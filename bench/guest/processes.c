/*
 * processes COUNT: that many processes live at once, then each computes a little and ends. For the
 * curves of `kcovbox bench --curves`: time must grow with the number, not faster.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define STEPS 200000

static int compute(void)
{
    volatile unsigned x = 1;
    for (int i = 0; i < STEPS; i++)
        x = x * 1664525u + 1013904223u;
    return x == 0;
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 1, gate[2], failed = 0, status;

    struct rlimit processes = {4096, 4096};
    if (setrlimit(RLIMIT_NPROC, &processes) || pipe(gate)) {
        perror("processes");
        return 1;
    }
    for (int i = 0; i < count; i++) {
        pid_t pid = fork();
        if (pid < 0) {
            perror("fork");
            return 1;
        }
        if (pid == 0) {
            char byte;
            close(gate[1]);
            while (read(gate[0], &byte, 1) > 0)
                ;
            _exit(compute());
        }
    }
    close(gate[0]);
    close(gate[1]); /* all of them wake up */
    for (int i = 0; i < count; i++)
        failed |= wait(&status) < 0 || status != 0;
    return failed;
}
