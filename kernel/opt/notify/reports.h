/* reports.h: what the core tells about open files; see notify.h. */
#pragma once

#include "file.h"
#include "optional.h"

OPTIONAL(CONFIG_NOTIFY, void, notify_closed, (struct file *f))
OPTIONAL(CONFIG_NOTIFY, void, notify_read, (struct file *f))
OPTIONAL(CONFIG_NOTIFY, void, notify_written, (struct file *f, i64 size_before))
