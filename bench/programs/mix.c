/* Integer mix: linked lists, small matrices, a state machine over text, and a CRC over all of it.
 */
#include "work.h"

#define NODES 256
#define SIDE  16
#ifndef ROUNDS
#define ROUNDS 400
#endif

struct node {
    struct node *next;
    s32 key;
    s32 value;
};

static struct node nodes[NODES];
static s32 a[SIDE][SIDE], b[SIDE][SIDE], c[SIDE][SIDE];
static u8 text[512];

static NOINLINE u32 crc_step(u32 crc, u32 word)
{
    crc ^= word;
    for (int i = 0; i < 8; i++)
        crc = (crc >> 1) ^ (crc & 1 ? 0xedb88320u : 0);
    return crc;
}

static NOINLINE struct node *merge(struct node *x, struct node *y)
{
    struct node head = {0, 0, 0}, *tail = &head;
    while (x && y) {
        struct node **from = x->key <= y->key ? &x : &y;
        tail->next = *from;
        tail = *from;
        *from = (*from)->next;
    }
    tail->next = x ? x : y;
    return head.next;
}

static NOINLINE struct node *sort(struct node *list, int n)
{
    if (n < 2) {
        if (list)
            list->next = 0;
        return list;
    }
    struct node *middle = list;
    for (int i = 0; i < n / 2; i++)
        middle = middle->next;
    struct node *right = sort(middle, n - n / 2);
    /* The left half ends where the right one began. */
    return merge(sort(list, n / 2), right);
}

static NOINLINE u32 lists(u64 *random)
{
    for (int i = 0; i < NODES; i++) {
        nodes[i].next = i + 1 < NODES ? &nodes[i + 1] : 0;
        nodes[i].key = (s32)(next_random(random) >> 40);
        nodes[i].value = i;
    }
    u32 sum = 0, place = 0;
    for (struct node *n = sort(nodes, NODES); n; n = n->next)
        sum += (u32)n->value * ++place;
    return sum;
}

static NOINLINE u32 matrices(u64 *random)
{
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            a[i][j] = (s32)(next_random(random) >> 52);
            b[i][j] = i - j;
        }
    u32 sum = 0;
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            s32 dot = 0;
            for (int k = 0; k < SIDE; k++)
                dot += a[i][k] * b[k][j];
            c[i][j] = dot;
            sum += dot > 0 ? (u32)dot : (u32)-dot / 3;
        }
    return sum;
}

enum state { START, SIGN, DIGITS, POINT, FRACTION, BAD, STATES };

static NOINLINE enum state step(enum state s, u8 ch)
{
    switch (s) {
    case START:
        if (ch >= '0' && ch <= '9')
            return DIGITS;
        return ch == '+' || ch == '-' ? SIGN : ch == '.' ? POINT : BAD;
    case SIGN:
        return ch >= '0' && ch <= '9' ? DIGITS : ch == '.' ? POINT : BAD;
    case DIGITS:
        return ch == '.' ? FRACTION : ch == ',' ? START : ch >= '0' && ch <= '9' ? DIGITS : BAD;
    case POINT:
        return ch >= '0' && ch <= '9' ? FRACTION : BAD;
    case FRACTION:
        return ch >= '0' && ch <= '9' ? FRACTION : ch == ',' ? START : BAD;
    default:
        return ch == ',' ? START : BAD;
    }
}

static NOINLINE u32 machine(u64 *random)
{
    static const u8 letters[16] = "0123456789+-.,,x";
    u32 visits[STATES] = {0};
    enum state s = START;
    for (u32 i = 0; i < sizeof(text); i++)
        text[i] = letters[next_random(random) >> 60];
    for (u32 i = 0; i < sizeof(text); i++)
        visits[s = step(s, text[i])]++;
    u32 crc = 0;
    for (int i = 0; i < STATES; i++)
        crc = crc_step(crc, visits[i]);
    return crc;
}

u64 work(void)
{
    u64 random = 88172645463325252ull;
    u32 crc = 0;
    for (int i = 0; i < ROUNDS; i++) {
        crc = crc_step(crc, lists(&random));
        crc = crc_step(crc, matrices(&random));
        crc = crc_step(crc, machine(&random));
    }
    return crc;
}
