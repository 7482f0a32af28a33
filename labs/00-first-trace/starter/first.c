/*
 * The program of lab 0: it reads from a pipe. Change it so that the kernel also executes the three
 * places that the text names.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
    char text[8] = "";
    int fd[2];

    if (pipe(fd) == -1)
        return 1;
    if (write(fd[1], "hello", 5) != 5 || read(fd[0], text, sizeof(text)) != 5)
        return 1;
    printf("%s\n", text);
    return 0;
}
