/* tail.c: the last page of a file that becomes shorter. */
#include "alloc.h"
#include "fs.h"
#include "klib.h"

/* It becomes dirty, because the old bytes would otherwise come back from the disk when the file
 * grows again. */
int page_cache_clear_tail(struct inode *inode, i64 size)
{
    int err = 0;
    char *page = size & PAGE_MASK ? page_cache_look(inode, size >> PAGE_SHIFT, &err) : NULL;

    if (!page)
        return err;
    page_put(va_to_pa(page));
    page = page_cache_get(inode, size >> PAGE_SHIFT, true, &err);
    if (page) {
        memset(page + (size & PAGE_MASK), 0, PAGE_SIZE - (size & PAGE_MASK));
        page_put(va_to_pa(page));
    }
    return err;
}
