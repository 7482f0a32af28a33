/*
 * A client of FreeBSD's kcov: kcovbox run --dialect freebsd freebsd.c -- CALL
 * prints the addresses that kcov records for the system call CALL with the arguments -1, 0, 0.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    long call = argc > 1 ? strtol(argv[1], NULL, 10) : 63;

    syscall(call, -1, 0, 0);
    return 0;
}
