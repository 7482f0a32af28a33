/* tables.h: tables that processes may share, and that a new program has alone. */
#pragma once

struct files;

void files_close_on_exec(struct files *files);
/*
 * Makes *files private if it is shared, by copying it into spare (files_spare). Takes over spare in
 * every case. -EINVAL: the process has other threads; -ENOMEM: no spare, or the table has grown
 * since.
 */
int files_unshare(struct files **files, struct files *spare);
