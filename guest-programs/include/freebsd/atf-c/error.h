/* A part of ATF; all of it is in one header here. */
#include "../atf-c.h"
