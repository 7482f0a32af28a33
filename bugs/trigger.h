/*
 * The frame of a trigger: the shortest program that shows a bug. It ends with 0 on a kernel without
 * the bug, and with 1 when it sees a wrong result; a crash or a report of the kernel shows the
 * rest.
 */
#pragma once
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WRONG(...)                                                                                 \
    do {                                                                                           \
        printf("wrong: " __VA_ARGS__);                                                             \
        printf("\n");                                                                              \
        exit(1);                                                                                   \
    } while (0)

/* A call of the preparation; it fails where the kernel cannot run the trigger at all. */
#define NEED(call)                                                                                 \
    ({                                                                                             \
        long need_result = (long)(call);                                                           \
        if (need_result == -1) {                                                                   \
            printf("cannot run: %s: %s\n", #call, strerror(errno));                                \
            exit(2);                                                                               \
        }                                                                                          \
        need_result;                                                                               \
    })
