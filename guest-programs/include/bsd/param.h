/* The BSDs' <sys/param.h> (and <machine/param.h>), beyond glibc's. */
#ifndef KCOVBOX_BSD_PARAM_H
#define KCOVBOX_BSD_PARAM_H

#ifndef nitems
#define nitems(a) (sizeof(a) / sizeof((a)[0]))
#endif
#define PAGE_SHIFT 12
#ifndef PAGE_SIZE
#define PAGE_SIZE (1 << PAGE_SHIFT)
#endif
#define PAGE_MASK     (PAGE_SIZE - 1)
#define round_page(x) (((unsigned long)(x) + PAGE_MASK) & ~(unsigned long)PAGE_MASK)
#define trunc_page(x) ((unsigned long)(x) & ~(unsigned long)PAGE_MASK)
#ifndef rounddown
#define rounddown(x, y) (((x) / (y)) * (y))
#endif
#ifndef roundup2
#define roundup2(x, y)   (((x) + ((y) - 1)) & ~((y) - 1))
#define rounddown2(x, y) ((x) & ~((y) - 1))
#endif

#endif
