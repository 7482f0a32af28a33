/* bench/guest/kcov.c for main.c: coverage hooks in a bench image. */
#pragma once

/* mode: bits of KCOV_CTX_MODE, 0 = nothing is traced. */
void kcov_start(const void *dtb, unsigned int mode);
/* The number of records since the last call; empties the area. */
unsigned long kcov_take(void);
/* A number that depends on every byte of the last iteration's records. */
unsigned long kcov_check(unsigned long records);
