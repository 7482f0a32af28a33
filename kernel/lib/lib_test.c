/* Tests of the small library: lists, strings, numbers. */
#include "klib.h"
#include "ktest.h"
#include "list.h"

struct element {
    struct list link;
    int value;
};

KTEST(list_keeps_order)
{
    struct list head = LIST_INIT(head);
    struct element e[3] = {{.value = 1}, {.value = 2}, {.value = 3}};
    int last = 0;

    EXPECT_TRUE(test, list_empty(&head));
    for (int i = 0; i < 3; i++)
        list_push_back(&head, &e[i].link);
    list_for_each(x, &head, struct element, link) {
        EXPECT_EQ(test, x->value, last + 1);
        last = x->value;
    }
    EXPECT_EQ(test, last, 3);
    list_remove(&e[1].link);
    EXPECT_TRUE(test, head.next == &e[0].link && e[0].link.next == &e[2].link);
}

KTEST(strlcpy_always_terminates)
{
    char to[4];

    EXPECT_EQ(test, strlcpy(to, "abcdef", sizeof(to)), 6);
    EXPECT_EQ(test, strcmp(to, "abc"), 0);
}

KTEST(numbers_of_every_base)
{
    EXPECT_EQ(test, strtou64("0x7f", NULL, 16), 0x7f);
    EXPECT_EQ(test, strtou64("1234", NULL, 10), 1234);
}
