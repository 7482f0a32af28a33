/* The kernel's use of memory, from /proc: for tests that look for leaks. */
#pragma once
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SIZES 16

struct memory_use {
    long free_kib;
    long bytes[SIZES], objects[SIZES]; /* small objects by their size; 0 bytes: no such size */
};

static const char *contents(const char *path)
{
    static char text[4096];
    int fd = open(path, O_RDONLY);
    ssize_t n = read(fd, text, sizeof(text) - 1);

    close(fd);
    text[n > 0 ? n : 0] = 0;
    return text;
}

static struct memory_use memory_use(void)
{
    struct memory_use u = {0};
    const char *at = strstr(contents("/proc/meminfo"), "MemFree:");

    u.free_kib = at ? strtol(at + 8, NULL, 10) : -1;
    at = contents("/proc/slabinfo");
    for (int i = 0; i < SIZES && (at = strstr(at, "kmalloc-")); i++)
        sscanf(at += 8, "%ld %ld", &u.bytes[i], &u.objects[i]);
    return u;
}
