/* One system call and its kcov records, without a C library: the whole program is what you see.
 *
 *     kcovbox run --cflags "-g -O0 -nostdlib -static" examples/bare.c; echo $?
 *
 * Its status is the number of records of read(-1, NULL, 0). The calls have Linux's numbers, and
 * kcov is OpenBSD's: its words are those of the buffer, and word 0 counts the records. */
#include <sys/kcov.h>

enum { SYS_ioctl = 29, SYS_openat = 56, SYS_read = 63, SYS_exit = 93, SYS_mmap = 222 };
enum { AT_FDCWD = -100, O_RDWR = 2, PROT_READ_WRITE = 3, MAP_SHARED = 1, WORDS = 512 };

static long call(long number, long a, long b, long c, long d, long e)
{
    register long a0 __asm__("a0") = a, a1 __asm__("a1") = b, a2 __asm__("a2") = c;
    register long a3 __asm__("a3") = d, a4 __asm__("a4") = e, a5 __asm__("a5") = 0;
    register long a7 __asm__("a7") = number;

    __asm__ volatile("ecall"
                     : "+r"(a0)
                     : "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5), "r"(a7)
                     : "memory");
    return a0;
}

int main(void)
{
    unsigned long *area, words = WORDS, records;
    int fd, mode = KCOV_MODE_TRACE_PC;

    fd = (int)call(SYS_openat, AT_FDCWD, (long)"/dev/kcov", O_RDWR, 0, 0);
    call(SYS_ioctl, fd, KIOSETBUFSIZE, (long)&words, 0, 0);
    area = (unsigned long *)call(SYS_mmap, 0, WORDS * 8, PROT_READ_WRITE, MAP_SHARED, fd);

    call(SYS_ioctl, fd, KIOENABLE, (long)&mode, 0, 0);
    area[0] = 0; /* the end of KIOENABLE was recorded, too */
    call(SYS_read, -1, 0, 0, 0, 0);
    records = area[0];
    call(SYS_ioctl, fd, KIODISABLE, 0, 0, 0);
    return (int)records;
}

void _start(void)
{
    call(SYS_exit, main(), 0, 0, 0, 0);
}
