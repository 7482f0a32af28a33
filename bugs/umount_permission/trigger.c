#include "../trigger.h"
#include <sys/mount.h>

int main(void)
{
    NEED(mkdir("/m", 0777));
    NEED(mount("none", "/m", "tmpfs", 0, NULL));
    NEED(setuid(1000));
    if (umount("/m") == 0)
        WRONG("umount by user 1000");
    return 0;
}
