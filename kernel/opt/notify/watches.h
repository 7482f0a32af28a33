/* watches.h: who hears of the events of an inode. */
#pragma once

#include "opt/notify/notify.h"

/*
 * One watch on one inode, which it keeps alive together with its mount. event() runs under
 * notify_lock; name is the entry's if the event is about an entry of a directory, else NULL.
 */
struct inode_watch {
    struct list link; /* (notify_lock) in inode->watches; empty when not watching */
    struct path at;
    void (*event)(struct inode_watch *w, u32 mask, u32 cookie, const char *name);
    void (*dead)(struct inode_watch *w); /* after notify_unwatch from within event(): free it */
};

extern struct mutex notify_lock;
void notify_watch(struct inode_watch *w,
                  const struct path *at); /* (notify_lock) takes references */
/* (notify_lock) Ends the events; notify_collect drops the references and calls dead() later. */
void notify_unwatch(struct inode_watch *w);
void notify_collect(void); /* not under notify_lock */
