/* Lists the records of read(-1, NULL, 0). */
#include "kcov.h"

int main(void)
{
    unsigned long *area, count;
    int fd = open_kcov(WORDS, &area);

    if (fd < 0 || enable(fd) != 0) {
        perror("/dev/kcov");
        return 1;
    }
    area[0] = 0;
    read(-1, NULL, 0);
    count = area[0];
    if (ioctl(fd, KIODISABLE) != 0)
        return 1;
    for (unsigned long i = 0; i < count; i++)
        printf("0x%lx\n", area[1 + i]);
    return 0;
}
