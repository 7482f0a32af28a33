/* The BSDs declare everything unless told otherwise; glibc does with _GNU_SOURCE. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include_next <features.h>
