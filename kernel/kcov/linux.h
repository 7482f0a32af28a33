/* The interface between linux.c (descriptors, UNIQ) and linux-remote.c (handles, sections). */
#pragma once
#include "remote.h"

int kcov_linux_mode(u64 value, u32 *record);
long kcov_linux_remote_enable(struct kcov_desc *desc, va_t arg);
long kcov_linux_remote_disable(struct kcov_desc *desc);
void kcov_linux_remote_drop(struct kcov_desc *desc); /* the owner exits; (k) */
u64 kcov_linux_handle_of(const struct work_origin *origin);
void kcov_linux_section_start(struct kcov_section *s, u64 subsystem, u64 handle);
void kcov_linux_section_stop(struct kcov_section *s);
