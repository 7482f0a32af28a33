/* edit.c: the keys that edit a line, send a signal, or stop and start output (termios(3)). */
#include "opt/signals/numbers.h"
#include "opt/terminal/termios.h"
#include "abi/signal.h"
#include "klib.h"
#include "poll.h"

static u32 shown_width(const struct tty *tty, u16 slot)
{
    u8 c = (u8)slot;

    if (c < ' ' || c == 127)
        return tty->termios.lflag & ECHOCTL ? 2 : 0;
    return 1;
}

/* Removes the last character from the line being edited, and from the screen. */
static void erase_one(struct tty *tty)
{
    u16 slot = tty->ring[--tty->tail % TTY_BUF];

    if (!(tty->termios.lflag & ECHO) || !(tty->termios.lflag & ECHOE))
        return;
    for (u32 i = shown_width(tty, slot); i > 0; i--)
        tty_emit_all(tty, "\b \b", 3);
}

static void erase_word(struct tty *tty)
{
    bool seen = false;

    while (tty->tail != tty->committed) {
        u8 c = (u8)tty->ring[(tty->tail - 1) % TTY_BUF];
        bool blank = c == ' ' || c == '\t';

        if (blank && seen)
            return;
        seen |= !blank;
        erase_one(tty);
    }
}

static void reprint(struct tty *tty)
{
    tty_echo(tty, tty->termios.cc[VREPRINT]);
    tty_emit_char(tty, '\n');
    for (u32 i = tty->committed; i != tty->tail; i++)
        tty_echo(tty, (u8)tty->ring[i % TTY_BUF]);
}

/* ^C, ^\ and ^Z. True when c was one of them; the caller sends *sig after it drops the lock. */
static bool signal_key(struct tty *tty, u8 c, int *sig)
{
    if (!(tty->termios.lflag & ISIG))
        return false;
    if (tty_is_key(tty, VINTR, c))
        *sig = SIGINT;
    else if (tty_is_key(tty, VQUIT, c))
        *sig = SIGQUIT;
    else if (tty_is_key(tty, VSUSP, c))
        *sig = SIGTSTP;
    else
        return false;
    tty_echo(tty, c);
    if (!(tty->termios.lflag & NOFLSH)) {
        tty_flush_input(tty);
        tty_notice(tty, TTY_FLUSHED_OUTPUT);
    }
    return true;
}

/* Stops or resumes output. Needs the lock. */
void tty_stop_output(struct tty *tty, bool stop)
{
    if (tty->stopped == stop)
        return;
    tty->stopped = stop;
    tty_notice(tty, stop ? TTY_STOPPED : TTY_STARTED);
    if (!stop)
        tty_output_room(tty);
}

static bool flow_key(struct tty *tty, u8 c)
{
    if (!(tty->termios.iflag & IXON))
        return false;
    if (tty_is_key(tty, VSTOP, c)) {
        tty_stop_output(tty, true);
        return true;
    }
    if (tty_is_key(tty, VSTART, c) || (tty->stopped && tty->termios.iflag & IXANY)) {
        tty_stop_output(tty, false);
        return tty_is_key(tty, VSTART, c);
    }
    return false;
}

/* Editing keys of canonical mode. True when c was one. */
static bool edit_key(struct tty *tty, u8 c)
{
    bool extended = tty->termios.lflag & IEXTEN;

    if (tty_is_key(tty, VERASE, c) || (c == '\b' && tty->termios.cc[VERASE] == 127)) {
        if (tty->tail != tty->committed)
            erase_one(tty);
    } else if (tty_is_key(tty, VKILL, c)) {
        while (tty->tail != tty->committed)
            erase_one(tty);
    } else if (extended && tty_is_key(tty, VWERASE, c)) {
        erase_word(tty);
    } else if (extended && tty_is_key(tty, VREPRINT, c)) {
        reprint(tty);
    } else if (extended && tty_is_key(tty, VLNEXT, c)) {
        tty->literal_next = true;
        if (tty->termios.lflag & ECHO && tty->termios.lflag & ECHOCTL)
            tty_emit_all(tty, "^\b", 2);
    } else {
        return false;
    }
    return true;
}

static bool flow_is_usual(const struct termios *t)
{
    return t->iflag & IXON && t->cc[VSTOP] == 19 && t->cc[VSTART] == 17;
}

/* After a change of the modes: input typed before the change stays readable. Needs the lock. */
void tty_mode_changed(struct tty *tty, const struct termios *old)
{
    bool usual = flow_is_usual(&tty->termios);

    if (usual != flow_is_usual(old))
        tty_notice(tty, usual ? TTY_FLOW_IS_USUAL : TTY_FLOW_IS_OTHER);
    if (tty->stopped && !(tty->termios.iflag & IXON) && old->iflag & IXON)
        tty_stop_output(tty, false);
    if ((old->lflag ^ tty->termios.lflag) & ICANON) {
        if (tty->tail != tty->head && tty->termios.lflag & ICANON && !tty->lines) {
            tty->ring[(tty->tail - 1) % TTY_BUF] |= MARK_EOL;
            tty->lines = 1;
        }
        tty->committed = tty->tail;
        wake_up_events(&tty->wait, POLLIN | POLLRDNORM);
    }
}

bool tty_key(struct tty *tty, u8 c, int *sig)
{
    return flow_key(tty, c) || signal_key(tty, c, sig) ||
           (tty->termios.lflag & ICANON && edit_key(tty, c));
}
