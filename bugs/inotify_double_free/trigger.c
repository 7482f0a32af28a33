#include "../trigger.h"
#include <sys/inotify.h>
#include <sys/resource.h>

int main(void)
{
    struct rlimit none = {3, 3}; /* 0, 1 and 2 are open */
    NEED(setrlimit(RLIMIT_NOFILE, &none));
    if (inotify_init1(0) != -1)
        WRONG("inotify_init1 made a descriptor beyond the limit");
    return 0;
}
