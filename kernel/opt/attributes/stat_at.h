/* stat_at.h: the place that the calls about attributes mean. */
#pragma once

#include "fs/open.h"

long walk_for_stat(u64 dirfd, u64 path, u64 flags, struct path *at);
