/* The smallest guest program: an ordinary C program, compiled for riscv64 Linux and run as
 * process 1. */
#include <stdio.h>
#include <sys/utsname.h>

int main(int argc, char **argv)
{
    struct utsname name;
    if (uname(&name) == 0)
        printf("hello, %s, from a %s machine\n", argc > 1 ? argv[1] : "world", name.machine);
    return 0;
}
