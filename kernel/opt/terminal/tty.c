/*
 * tty.c: the line discipline: processes characters between the wire and read(2), and between
 * write(2) and the wire. termios(3) is the specification.
 *
 * Input. tty_receive runs in the driver's interrupt. Canonical mode collects a line at the end of
 * the ring, where erase, kill and word-erase edit it, and commits it at a line end; raw mode
 * commits every character. A line end is marked in the ring, because VEOF ends a line without being
 * part of it and because read(2) returns at most one line.
 *
 * Not modelled: baud rates, parity, IXOFF (sending XON and XOFF), modem control, output delays.
 */
#include "opt/terminal/tty.h"
#include "klib.h"
#include "poll.h"
#include "signal.h"
#include "opt/terminal/termios.h"

void tty_init(struct tty *tty, const char *name, const struct tty_driver *driver, u64 rdev)
{
    static const u8 cc[NCCS] = {
        [VINTR] = 3,     [VQUIT] = 28,   [VERASE] = 127, [VKILL] = 21, [VEOF] = 4,
        [VMIN] = 1,      [VSTART] = 17,  [VSTOP] = 19,   [VSUSP] = 26, [VREPRINT] = 18,
        [VDISCARD] = 15, [VWERASE] = 23, [VLNEXT] = 22,
    };

    tty->name = name;
    tty->driver = driver;
    tty->rdev = rdev;
    tty->refs = 1;
    spin_init(&tty->lock, "tty");
    waitq_init(&tty->wait);
    tty->termios = (struct termios){
        .iflag = ICRNL | IXON,
        .oflag = OPOST | ONLCR,
        .cflag = B38400 | CS8 | CREAD | HUPCL,
        .lflag = ISIG | ICANON | ECHO | ECHOE | ECHOK | ECHOCTL | ECHOKE | IEXTEN,
    };
    memcpy(tty->termios.cc, cc, sizeof(cc));
    tty->winsize = (struct winsize){.rows = 24, .cols = 80};
}

struct tty *tty_get(struct tty *tty)
{
    atomic_add(&tty->refs, 1);
    return tty;
}

void tty_put(struct tty *tty)
{
    if (atomic_sub(&tty->refs, 1) == 0 && tty->driver->free)
        tty->driver->free(tty);
}

static void output(struct tty *tty, const char *s, size_t n)
{
    tty->driver->output(tty, s, n);
}

void tty_notice(struct tty *tty, u32 what)
{
    if (tty->driver->noticed)
        tty->driver->noticed(tty, what);
}

/* One character through output processing. Needs the lock. */
void tty_emit_char(struct tty *tty, char c)
{
    u32 oflag = tty->termios.oflag;

    if (oflag & OPOST && c == '\n' && oflag & ONLCR)
        output(tty, "\r", 1);
    if (oflag & OPOST && c == '\r' && oflag & OCRNL)
        c = '\n';
    if (c == '\n' || c == '\r')
        tty->column = 0;
    else if (c == '\b')
        tty->column -= tty->column > 0;
    else if (c == '\t')
        tty->column = (tty->column | 7) + 1;
    else if ((u8)c >= ' ')
        tty->column++;
    output(tty, &c, 1);
}

void tty_emit_all(struct tty *tty, const char *s, u32 n)
{
    while (n--)
        tty_emit_char(tty, *s++);
}

/* Room for two characters: output processing turns a line end into CR LF. */
bool tty_can_emit(const struct tty *tty)
{
    return !tty->stopped && (!tty->driver->room || tty->driver->room(tty) >= 2);
}

u32 tty_emit(struct tty *tty, const char *s, u32 n)
{
    u32 done = 0;

    while (done < n && tty_can_emit(tty))
        tty_emit_char(tty, s[done++]);
    return done;
}

void tty_output_room(struct tty *tty)
{
    wake_up_events(&tty->wait, POLLOUT | POLLWRNORM);
}

void tty_echo(struct tty *tty, u8 c)
{
    u32 lflag = tty->termios.lflag;

    if (!(lflag & ECHO) && !(c == '\n' && lflag & ECHONL && lflag & ICANON))
        return;
    if (lflag & ECHOCTL && (c < ' ' || c == 127) && c != '\n' && c != '\t') {
        tty_emit_char(tty, '^');
        tty_emit_char(tty, c ^ 0x40);
    } else {
        tty_emit_char(tty, c);
    }
}

bool tty_is_key(const struct tty *tty, int which, u8 c)
{
    return tty->termios.cc[which] && tty->termios.cc[which] == c;
}

/* Appends to the ring; a full ring beeps and drops, but always keeps room for a line end. */
static bool append(struct tty *tty, u16 slot)
{
    u32 used = tty->tail - tty->head, limit = TTY_BUF - !(slot & MARK_EOL);

    if (used >= limit) {
        if (tty->termios.iflag & IMAXBEL)
            tty_emit_char(tty, '\a');
        return false;
    }
    tty->ring[tty->tail++ % TTY_BUF] = slot;
    return true;
}

static void commit(struct tty *tty, bool line)
{
    tty->committed = tty->tail;
    tty->lines += line;
    wake_up_events(&tty->wait, POLLIN | POLLRDNORM);
}

void tty_flush_input(struct tty *tty)
{
    tty->head = tty->committed = tty->tail = 0;
    tty->lines = 0;
    tty_notice(tty, TTY_FLUSHED_INPUT);
}

static void canonical(struct tty *tty, u8 c)
{
    if (tty_is_key(tty, VEOF, c)) {
        if (append(tty, c | MARK_EOL | MARK_EOF))
            commit(tty, true);
    } else if (c == '\n' || tty_is_key(tty, VEOL, c) || tty_is_key(tty, VEOL2, c)) {
        if (append(tty, c | MARK_EOL)) {
            tty_echo(tty, c);
            commit(tty, true);
        }
    } else if (append(tty, c)) {
        tty_echo(tty, c);
    }
}

/* Needs the lock. */
static void receive(struct tty *tty, u8 c, int *sig)
{
    u32 iflag = tty->termios.iflag;

    if (iflag & ISTRIP)
        c &= 0x7f;
    if (tty->literal_next) {
        tty->literal_next = false;
        if (append(tty, c))
            tty_echo(tty, c);
        return;
    }
    if (c == '\r' && iflag & IGNCR)
        return;
    if (c == '\r' && iflag & ICRNL)
        c = '\n';
    else if (c == '\n' && iflag & INLCR)
        c = '\r';
    if (tty_key(tty, c, sig))
        return;
    if (tty->termios.lflag & ICANON) {
        canonical(tty, c);
    } else if (append(tty, c)) {
        tty_echo(tty, c);
        commit(tty, false);
    }
}

void tty_receive(struct tty *tty, u8 c)
{
    int sig = 0, pgrp;

    spin_lock(&tty->lock);
    receive(tty, c, &sig);
    pgrp = tty->pgrp;
    spin_unlock(&tty->lock);
    if (sig && pgrp)
        signal_send_pgrp(pgrp, sig, NULL);
}

/*
 * A serial line has no end of file, but a break is not a character, so tty=stream takes it for the
 * end of the input. Otherwise it reads as NUL (termios(3): neither IGNBRK nor BRKINT).
 */
void tty_break(struct tty *tty)
{
    if (!tty->is_stream) {
        tty_receive(tty, 0);
        return;
    }
    spin_lock(&tty->lock);
    if (tty->tail != tty->committed && tty->termios.lflag & ICANON) {
        tty->ring[(tty->tail - 1) % TTY_BUF] |= MARK_EOL;
        tty->lines++;
    }
    tty->ended = true;
    commit(tty, false);
    spin_unlock(&tty->lock);
}

/* A full ring without a line end still takes input: append() drops it up to the line's end. */
bool tty_wants_more(const struct tty *tty)
{
    return tty->tail - tty->head < TTY_BUF - 1 || (tty->termios.lflag & ICANON && !tty->lines);
}

/* Characters that read(2) could have now. Needs the lock. */
u32 tty_readable(const struct tty *tty)
{
    if (tty->termios.lflag & ICANON)
        return tty->lines ? tty->committed - tty->head : 0;
    return tty->tail - tty->head;
}

/*
 * Takes up to n characters, in canonical mode at most one line. *eol: the line's end was reached
 * (also by an end of file, which is not returned). Needs the lock.
 */
u32 tty_take(struct tty *tty, u8 *buf, u32 n, bool *eol)
{
    bool canon = tty->termios.lflag & ICANON;
    u32 limit = canon ? tty->committed : tty->tail, got = 0;

    *eol = false;
    while (got < n && tty->head != limit && !*eol) {
        u16 slot = tty->ring[tty->head++ % TTY_BUF];

        if (slot & MARK_EOL)
            tty->lines -= tty->lines > 0;
        *eol = canon && slot & MARK_EOL;
        if (!(canon && slot & MARK_EOF))
            buf[got++] = (u8)slot;
    }
    /* The end-of-file mark after a line that exactly filled buf belongs to that line. */
    if (canon && got && !*eol && tty->head != limit && tty->ring[tty->head % TTY_BUF] & MARK_EOF) {
        tty->head++;
        tty->lines -= tty->lines > 0;
        *eol = true;
    }
    if ((i32)(tty->committed - tty->head) < 0)
        tty->committed = tty->head;
    return got;
}
