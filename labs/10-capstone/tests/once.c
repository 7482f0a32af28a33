/* One hash: right, or an error. A wrong hash without an error is the worst. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
    unsigned hash = 0;
    int fd = open("/dev/mixer", O_RDWR);

    if (fd < 0 || write(fd, "abc", 3) != 3 || read(fd, &hash, sizeof(hash)) != sizeof(hash))
        return 1;
    printf("%08x\n", hash);
    return hash != 0x1a47e90b;
}
