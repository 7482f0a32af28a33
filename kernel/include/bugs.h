/*
 * Historical bugs of other kernels, on demand (opt/bugs, docs/bugs.md). BUG(id) is true while the
 * bug is switched on; without CONFIG_BUGS it is 0, and the compiler leaves the guarded code out.
 */
#pragma once
#include "types.h"

#ifdef CONFIG_BUGS
#include "opt/bugs/bugs.h"
#else
#define BUG(id)                      0
#define BUG_NOTE(id, holds)          ((void)0)
#define BUG_NOTE_MORE(id, a, b)      ((void)0)
#define BUG_WATCH(id, object)        ((void)0)
#define BUG_NOTE_WATCHED(id, object) ((void)0)
#endif
