/*
 * A name that is too long for its buffer overwrites the list after it; the crash comes much later.
 * docs/debugging.md finds the store that did it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
    struct node *next;
    long value;
};

struct block {
    char text[16];
    struct node node;
};

static struct block *block;
static volatile unsigned long work;

static void greet(const char *name)
{
    strcpy(block->text, name); /* the bug: longer names do not fit */
}

static long sum(struct node *at)
{
    long total = 0;
    for (; at != NULL; at = at->next)
        total += at->value;
    return total;
}

int main(int argc, char **argv)
{
    unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000;
    struct node *tail = calloc(1, sizeof *tail);
    block = calloc(1, sizeof *block);
    block->node.next = tail;
    block->node.value = 1;
    tail->value = 2;
    printf("sum %ld\n", sum(&block->node));
    greet("a name of 20 letters");
    for (unsigned long i = 0; i < rounds; i++)
        work = work * 31 + i;
    printf("sum %ld\n", sum(&block->node));
    return 0;
}
