/*
 * optional.h: functions of options (opt/) that the core calls.
 *
 * The problem: a kernel without the option has no such function, but its caller stays the same. So
 * a header gives it an empty one, and one row says both:
 *
 *     OPTIONAL(CONFIG_OOM, bool, oom_kill, (void), false)
 *
 * With the option OOM this is the prototype of oom_kill(), without it a function that returns the
 * last argument, here false. A function that returns nothing has no last argument.
 *
 * The trick: CONFIG_OOM is 1, or no macro at all. So OPTIONAL_IF_##config is either OPTIONAL_IF_1,
 * which is a word and a comma, or the unknown word OPTIONAL_IF_CONFIG_OOM. OPTIONAL_PICK takes what
 * is behind the first comma:
 *
 *     with the option       skipped, OPTIONAL_PROTOTYPE, OPTIONAL_STUB
 *     without               OPTIONAL_IF_CONFIG_OOM OPTIONAL_PROTOTYPE, OPTIONAL_STUB
 */
#pragma once

#define OPTIONAL_IF_1                          skipped,
#define OPTIONAL_SECOND(...)                   OPTIONAL_PICK(__VA_ARGS__, )
#define OPTIONAL_PICK(first, second, ...)      second
#define OPTIONAL_CHOICE(config, with, without) OPTIONAL_SECOND(OPTIONAL_IF_##config with, without)

#define OPTIONAL_PROTOTYPE(type, name, args, ...) type name args;
#define OPTIONAL_STUB(type, name, args, ...)                                                       \
    static inline type name args                                                                   \
    {                                                                                              \
        return __VA_ARGS__;                                                                        \
    }
#define OPTIONAL(config, ...)                                                                      \
    OPTIONAL_CHOICE(config, OPTIONAL_PROTOTYPE, OPTIONAL_STUB)(__VA_ARGS__)

/* The function of an option in a table of operations, which is NULL without the option. */
#define IF_OPTION(config, function) OPTIONAL_CHOICE(config, function, NULL)
#define HAS_OPTION(config)          OPTIONAL_CHOICE(config, true, false)
