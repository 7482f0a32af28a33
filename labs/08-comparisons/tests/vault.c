/*
 * /dev/vault: write(2) takes messages of 32 bytes. It has five stages, one behind the other; which
 * numbers pass them, and where they lie in the message, follows from the number behind "vault=" on
 * the kernel's command line. A message that opens all of them is taken, any other is EACCES.
 */
#include "abi/errno.h"
#include "boot.h"
#include "file.h"
#include "fs.h"
#include "klib.h"

#define BYTES 32
#define SLOT  8

static struct {
    u32 first;
    u16 second;
    u64 third;
    u16 fourth;
    bool is_open;
    u32 place[4]; /* of the fields, in the message */
} secret;

static u32 sum_of(const u8 *m)
{
    u32 sum = 0;

    for (int i = 0; i < BYTES - 1; i++)
        sum = sum * 3 + m[i];
    return sum & 0xff;
}

static i64 all_stages(const u8 *m)
{
    if (sum_of(m) != m[BYTES - 1])
        return -EACCES;
    atomic_store(&secret.is_open, true);
    return BYTES;
}

static i64 fourth_stage(const u8 *m)
{
    u32 at = secret.place[3];
    u32 big_endian = (u32)m[at] << 8 | m[at + 1];

    if (big_endian != secret.fourth)
        return -EACCES;
    return all_stages(m);
}

static i64 third_stage(const u8 *m)
{
    u64 value;

    memcpy(&value, m + secret.place[2], sizeof(value));
    if (value != secret.third)
        return -EACCES;
    return fourth_stage(m);
}

static i64 second_stage(const u8 *m)
{
    u16 value;

    memcpy(&value, m + secret.place[1], sizeof(value));
    if (value != secret.second)
        return -EACCES;
    return third_stage(m);
}

static i64 first_stage(const u8 *m)
{
    u32 value;

    memcpy(&value, m + secret.place[0], sizeof(value));
    if (value != secret.first)
        return -EACCES;
    return second_stage(m);
}

static i64 vault_write(struct file *file, struct iter *from, i64 *pos)
{
    u8 message[BYTES];

    if (from->left != BYTES)
        return -EINVAL;
    if (iter_get(from, message, BYTES) != BYTES)
        return -EFAULT;
    return first_stage(message);
}

static const struct file_ops vault_ops = {.write = vault_write};

static u64 next(u64 *state)
{
    u64 z = *state += 0x9e3779b97f4a7c15;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static void vault_init(void)
{
    char number[24] = "";
    u64 state = 0;

    cmdline_get("vault", number, sizeof(number));
    for (const char *c = number; *c; c++)
        state = state * 31 + (u8)*c;
    secret.first = (u32)next(&state) | 0x01010101;
    secret.second = (u16)next(&state) | 0x0101;
    secret.third = next(&state) | 0x0101010101010101;
    secret.fourth = (u16)next(&state) | 0x0101;
    for (u32 i = 0; i < 4; i++) {
        u32 j = (u32)(next(&state) % (i + 1));

        secret.place[i] = secret.place[j];
        secret.place[j] = i * SLOT;
    }
    if (secret.place[2] == BYTES - SLOT) /* the last byte is the sum */
        secret.place[2] -= 1;
    devfs_register_dev("vault", &vault_ops, 0666, MKDEV(10, 201), NULL);
}
INITCALL(vault_init);
