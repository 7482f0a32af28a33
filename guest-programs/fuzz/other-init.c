/*
 * First process of a Linux that is not kcovbox's own kernel: runs /bin/repro, the C program of a
 * crash, and ends the machine with its status.
 */
#define _GNU_SOURCE
#include <sys/wait.h>

#include "other-linux.h"

int main(void)
{
    int status;

    prepare_system();
    open_marker();
    pid_t child = fork();
    if (child == 0) {
        execl("/bin/repro", "repro", (char *)NULL);
        _exit(127);
    }
    while (waitpid(child, &status, 0) < 0)
        ;
    end_system(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}
