/* Iterations of <sys/queue.h> that glibc's copy does not have. */
#ifndef KCOVBOX_BSD_QUEUE_H
#define KCOVBOX_BSD_QUEUE_H

#ifndef LIST_FOREACH_SAFE
#define LIST_FOREACH_SAFE(var, head, field, next)                                                  \
    for ((var) = LIST_FIRST(head); (var) && ((next) = LIST_NEXT(var, field), 1); (var) = (next))
#endif
#ifndef SLIST_FOREACH_SAFE
#define SLIST_FOREACH_SAFE(var, head, field, next)                                                 \
    for ((var) = SLIST_FIRST(head); (var) && ((next) = SLIST_NEXT(var, field), 1); (var) = (next))
#endif
#ifndef STAILQ_FOREACH_SAFE
#define STAILQ_FOREACH_SAFE(var, head, field, next)                                                \
    for ((var) = STAILQ_FIRST(head); (var) && ((next) = STAILQ_NEXT(var, field), 1); (var) = (next))
#endif
#ifndef TAILQ_FOREACH_SAFE
#define TAILQ_FOREACH_SAFE(var, head, field, next)                                                 \
    for ((var) = TAILQ_FIRST(head); (var) && ((next) = TAILQ_NEXT(var, field), 1); (var) = (next))
#endif
#ifndef SIMPLEQ_FOREACH_SAFE
#define SIMPLEQ_FOREACH_SAFE(var, head, field, next)                                               \
    for ((var) = SIMPLEQ_FIRST(head); (var) && ((next) = SIMPLEQ_NEXT(var, field), 1);             \
         (var) = (next))
#endif

#endif
