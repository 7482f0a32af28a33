#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
    char text[8] = "";
    static char page[4096];
    int fd[2], file;

    signal(SIGPIPE, SIG_IGN);
    if (pipe(fd) == -1)
        return 1;
    if (write(fd[1], "hello", 5) != 5 || read(fd[0], text, sizeof(text)) != 5)
        return 1;
    printf("%s\n", text);
    if (pread(fd[0], text, 1, 0) != -1 || errno != ESPIPE)
        return 2;
    file = open("/tmp/pages", O_WRONLY | O_CREAT, 0600);
    if (write(file, page, 10) != 10 || write(file, page, sizeof(page)) != sizeof(page))
        return 3;
    close(fd[0]);
    if (write(fd[1], "x", 1) != -1 || errno != EPIPE)
        return 4;
    return 0;
}
