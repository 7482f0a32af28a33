#include "../trigger.h"

int main(void)
{
    int ends[2], fd = (int)NEED(open("/file", O_RDWR | O_CREAT, 0600));
    off64_t at = INT64_MAX - 10;
    char bytes[100] = "";
    NEED(pipe(ends));
    NEED(write(ends[1], bytes, sizeof(bytes)));
    if (splice(ends[0], NULL, fd, &at, sizeof(bytes), 0) > 0)
        WRONG("splice wrote beyond the largest position of a file");
    return 0;
}
