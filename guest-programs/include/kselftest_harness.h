/* Tests of the Linux tree include "../kselftest_harness.h"; see linux/kselftest_harness.h. */
#include "linux/kselftest_harness.h"
