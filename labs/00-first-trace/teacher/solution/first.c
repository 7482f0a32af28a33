#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
    char text[8] = "";
    int fd[2];

    signal(SIGPIPE, SIG_IGN);
    if (pipe(fd) == -1)
        return 1;
    if (write(fd[1], "hello", 5) != 5 || read(fd[0], text, sizeof(text)) != 5)
        return 1;
    printf("%s\n", text);
    if (pread(fd[0], text, 1, 0) != -1 || errno != ESPIPE)
        return 2;
    if (fork() == 0) {
        usleep(1000);
        return write(fd[1], "later", 5) != 5;
    }
    if (read(fd[0], text, sizeof(text)) != 5 || wait(NULL) == -1)
        return 3;
    close(fd[0]);
    if (write(fd[1], "x", 1) != -1 || errno != EPIPE)
        return 4;
    return 0;
}
