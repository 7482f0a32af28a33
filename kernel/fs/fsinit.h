/* fsinit.h: pieces of start-up that only fs/init.c calls. */
#pragma once

void fsctx_init(void); /* sys_dirs.c */
