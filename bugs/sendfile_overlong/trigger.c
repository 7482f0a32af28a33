#include "../trigger.h"
#include <sys/sendfile.h>

int main(void)
{
    int in = (int)NEED(open("/short", O_RDWR | O_CREAT, 0600));
    int out = (int)NEED(open("/copy", O_RDWR | O_CREAT, 0600));
    off_t from = 0;
    NEED(write(in, "ten bytes.", 10));
    long sent = NEED(sendfile(out, in, &from, 4096));
    if (sent != 10)
        WRONG("sendfile of a file of 10 bytes sent %ld", sent);
    return 0;
}
