/* Tests of the Linux tree include "../kselftest.h"; see linux/kselftest.h. */
#include "linux/kselftest.h"
