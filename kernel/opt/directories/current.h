/* current.h: for the calls that change a directory of the process. */
#pragma once

#include "fs.h"

/* The directory at becomes *which, the current one or the root; takes over at. */
long change_to(struct path *at, struct path *which);
