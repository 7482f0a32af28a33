/* wait_stop.c: what wait4() and waitid() tell of children that stopped or continued. */
#include "abi/sched.h"
#include "opt/wait4/wait.h"

bool take_stop(struct proc *child, const struct wait_request *rq, struct wait_result *out)
{
    bool keep = rq->options & WNOWAIT;

    if (child->state == PROC_STOPPED && rq->options & WSTOPPED && !child->stop_reported) {
        wait_describe(out, child, child->stop_signal << 8 | 0x7f);
        child->stop_reported = !keep;
        return true;
    }
    if (child->continued && rq->options & WCONTINUED) {
        wait_describe(out, child, 0xffff);
        child->continued = keep;
        return true;
    }
    return false;
}
