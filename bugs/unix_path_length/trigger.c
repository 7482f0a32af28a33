#include "../trigger.h"
#include <sys/un.h>

int main(void)
{
    char address[1024];
    int fd = (int)NEED(socket(AF_UNIX, SOCK_STREAM, 0));
    memset(address, 'A', sizeof(address));
    *(sa_family_t *)address = AF_UNIX;
    /* The path is longer than sun_path; EINVAL is right. */
    if (bind(fd, (struct sockaddr *)address, sizeof(address)) == 0 || errno != EINVAL)
        WRONG("bind of a path of 1,022 bytes: %s", strerror(errno));
    return 0;
}
