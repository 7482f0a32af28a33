/* memadvice.h: the advice of madvise(2). */
#pragma once

#define MADV_NORMAL     0
#define MADV_WILLNEED   3
#define MADV_DONTNEED   4
#define MADV_FREE       8
#define MADV_DONTFORK   10
#define MADV_DOFORK     11
#define MADV_WIPEONFORK 18
#define MADV_KEEPONFORK 19
