/* The UAPI header, then the modes of the UNIQ series (January 2025, never merged). */
#include_next <linux/kcov.h>
#ifndef KCOVBOX_LINUX_KCOV_H
#define KCOVBOX_LINUX_KCOV_H
#ifndef KCOV_TRACE_UNIQ_PC
#define KCOV_TRACE_UNIQ_PC   2
#define KCOV_TRACE_UNIQ_EDGE 4
#define KCOV_TRACE_UNIQ_CMP  8
#endif
#endif
