/* Writes each argument to /dev/provoke: the kernel commits the named bug (kernel/opt/provoke). */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int fd = open("/dev/provoke", O_WRONLY);
    if (fd < 0) {
        perror("/dev/provoke");
        return 2;
    }
    for (int i = 1; i < argc; i++) {
        printf("# %s\n", argv[i]);
        fflush(stdout);
        if (write(fd, argv[i], strlen(argv[i])) < 0)
            perror(argv[i]);
    }
    return 0;
}
