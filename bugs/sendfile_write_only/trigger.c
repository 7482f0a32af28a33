#include "../trigger.h"
#include <sys/sendfile.h>

int main(void)
{
    int secret = (int)NEED(open("/secret", O_WRONLY | O_CREAT, 0200));
    int out = (int)NEED(open("/copy", O_RDWR | O_CREAT, 0600));
    off_t from = 0;
    NEED(write(secret, "secret", 6));
    if (sendfile(out, secret, &from, 6) > 0)
        WRONG("sendfile read from a descriptor that is open for writing only");
    return 0;
}
