/*
 * The first program of xv6 under the fuzzer: it makes the files that descriptions name, and its
 * child executes /repro, the C program of a crash, where the disk has one, or becomes the agent
 * (xv6-hooks.c). When the child ends, so does the machine.
 */
#include <stdint.h>

#include "kernel/types.h"
#include "kernel/fcntl.h"
#include "kernel/syscall.h"
#include "xv6.h"

#define CONSOLE 1 /* as xv6 has it beside types of its kernel */

static inline long call(long nr, long a, long b, long c)
{
    register long a0 asm("a0") = a, a1 asm("a1") = b, a2 asm("a2") = c, a7 asm("a7") = nr;
    asm volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a7) : "memory");
    return a0;
}

static void make_files(void)
{
    static const char text[] = "0123456789abcdef0123456789abcdef";
    long fd = call(SYS_open, (long)"f", O_CREATE | O_RDWR, 0);

    call(SYS_write, fd, (long)text, sizeof(text) - 1);
    call(SYS_close, fd, 0, 0);
    call(SYS_mkdir, (long)"d", 0, 0);
    call(SYS_mknod, (long)"console", CONSOLE, 0);
}

static void be_tested(void)
{
    char *argv[] = {"repro", 0};

    call(SYS_exec, (long)argv[0], (long)argv, 0); /* returns where there is none */
    if (call(XV6_CALL_READY, 0, 0, 0) == 0)
        /* Each call leaves other values in the registers. */
        asm volatile("1: li a7, %0\n\t"
                     "ecall\n\t"
                     "j 1b"
                     :
                     : "i"(XV6_CALL_NEXT));
    call(SYS_exit, 1, 0, 0);
}

__attribute__((section(".start"))) void start(void)
{
    make_files();
    call(XV6_CALL_PREPARE, 0, 0, 0);
    long child = call(SYS_fork, 0, 0, 0);
    if (child == 0)
        be_tested();
    while (call(SYS_wait, 0, 0, 0) != child)
        ;
    call(XV6_CALL_END, 0, 0, 0);
    for (;;)
        ;
}
