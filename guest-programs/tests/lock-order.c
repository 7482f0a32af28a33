/*
 * Runs other test programs and then prints the order in which the kernel has taken its locks, as
 * /dev/lock-order of a kernel with lockdep gives it.
 *
 *     lock-order PROGRAM...        absolute paths
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void run_quietly(const char *path)
{
    pid_t pid = fork();

    if (!pid) {
        dup2(open("/dev/null", O_WRONLY), 1);
        execl(path, path, NULL);
        _exit(127);
    }
    waitpid(pid, NULL, 0);
    while (waitpid(-1, NULL, 0) > 0) /* process 1 inherits orphans */
        ;
}

int main(int argc, char *argv[])
{
    char text[4096];
    int fd = open("/dev/lock-order", O_RDONLY);
    ssize_t n;

    if (fd < 0) {
        perror("/dev/lock-order");
        return 1;
    }
    for (int i = 1; i < argc; i++)
        run_quietly(argv[i]);
    while ((n = read(fd, text, sizeof(text))) > 0)
        if (write(1, text, n) != n)
            return 1;
    return n < 0;
}
