// A program as a C program of its own that `kcovbox run` compiles. It prepares its process as the
// agent does, and makes the same calls with the same memory; it has no kcov.
import { encode } from '../executor/encode.ts';
import { CALL_FORKS, LAYOUT, MARK, OP } from '../executor/layout.ts';
import { isRace, type Program } from './program.ts';
import { programText } from './text.ts';

const hex = (value: bigint): string => `0x${value.toString(16)}`;

/** The preparation of the agent before its snapshot, without kcov. */
const PREPARE = `static void on_tick(int sig)
{
    (void)sig;
}

static void prepare(void)
{
    struct itimerval tick = {{0, 10000}, {0, 10000}};
    struct sigaction act = {.sa_handler = on_tick};
    mmap((void *)ARENA, ARENA_BYTES, PROT_READ | PROT_WRITE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    memset((void *)ARENA, 0, ARENA_BYTES);
    if (mkdir("/tmp/w", 0777) || chdir("/tmp/w") || mkdir("d", 0777) || symlink("f", "l") ||
        mkfifo("p", 0666))
        _exit(2);
    int fd = open("f", O_RDWR | O_CREAT, 0666);
    if (fd < 0 || write(fd, "0123456789abcdef0123456789abcdef", 32) != 32)
        _exit(2);
    close(fd);
    setpgid(0, 0);
    sigaction(SIGALRM, &act, NULL);
    setitimer(ITIMER_REAL, &tick, NULL);
    fail_fd = dup3(open("/dev/fail-nth", O_WRONLY), 251, O_CLOEXEC);
    for (int std = 0; std <= 3; std++)
        close(std);
    for (int std = 0; std < 3; std++)
        open("/dev/null", O_RDWR);
}
`;

/** The program tells the host that its calls begin: the events of faults count from there. */
const MARKER = `static void mark(void)
{
    int fd = open("/dev/marker", O_WRONLY);
    if (fd < 0 || write(fd, "${MARK.READY}", 1) != 1 || close(fd))
        _exit(2);
}
`;

const CALLS = `static uint64_t call(uint64_t nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
                     uint64_t f)
{
    register uint64_t a0 asm("a0") = a, a1 asm("a1") = b, a2 asm("a2") = c, a3 asm("a3") = d,
                         a4 asm("a4") = e, a5 asm("a5") = f, a7 asm("a7") = nr;
    asm volatile("ecall"
                 : "+r"(a0)
                 : "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5), "r"(a7)
                 : "memory");
    return a0;
}

/* The child, where there is one, ends at once. */
static uint64_t call_forks(uint64_t nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
                           uint64_t f)
{
    register uint64_t a0 asm("a0") = a, a1 asm("a1") = b, a2 asm("a2") = c, a3 asm("a3") = d,
                         a4 asm("a4") = e, a5 asm("a5") = f, a7 asm("a7") = nr;
    asm volatile("ecall\\n\\t"
                 "bnez a0, 1f\\n\\t"
                 "li a7, 93\\n\\t"
                 "ecall\\n"
                 "1:"
                 : "+r"(a0), "+r"(a7)
                 : "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5)
                 : "memory");
    return a0;
}

static int good(uint64_t value)
{
    return value < -4096UL;
}

static uint64_t load(uint64_t at, int bytes)
{
    uint64_t value = 0;
    memcpy(&value, (void *)at, (size_t)bytes);
    return value;
}

static void fail_nth(const char *n)
{
    if (write(fail_fd, n, strlen(n)) < 0)
        _exit(3);
}
`;

/** The comment at its beginning: the title, and the program. */
export function head(program: Program, title: string): string {
  const text = programText(program).trimEnd().replaceAll('*/', '* /').replaceAll('\n', '\n *   ');
  return `/*\n * ${title.replaceAll('*/', '* /')}\n *\n *   ${text}\n */`;
}

/** The slots of resources, where there are any. */
export const slotsOf = (slots: readonly bigint[]): string[] =>
  slots.length > 0 ? [`static uint64_t r[] = {${slots.map(hex).join(', ')}};`] : [];

/** The memory to which arguments point, where they do. */
export const memory = (arena: Uint8Array): string[] =>
  arena.length > 0 ? [`static const uint8_t memory[] = {\n${rows(arena)}};`] : [];

/** `title`: for the comment at its beginning. */
export function programC(program: Program, title: string): string {
  const { slots, words, other, arena } = encode(program, isRace(program));
  const own = (isSecond: boolean): Program => ({
    calls: program.calls.filter(({ thread }) => (thread === 2) === isSecond),
  });
  const used = other ? body(words, own(false)) : body(words, program);
  const hasFaults = program.faults !== undefined;
  return [
    head(program, title),
    '#define _GNU_SOURCE',
    ...(other ? ['#include <pthread.h>'] : []),
    ...['fcntl', 'signal', 'stdint', 'string', 'sys/mman', 'sys/stat', 'sys/time', 'sys/wait', 'unistd'].map(
      header => `#include <${header}.h>`,
    ),
    '',
    `#define ARENA       0x${LAYOUT.ARENA.toString(16)}UL`,
    `#define ARENA_BYTES 0x${LAYOUT.ARENA_BYTES.toString(16)}UL`,
    '',
    'static int fail_fd;',
    ...slotsOf(slots),
    ...memory(arena),
    '',
    PREPARE,
    CALLS,
    ...(hasFaults ? [MARKER] : []),
    ...(other
      ? [
          'static volatile int is_there, is_done;',
          '',
          'static void *program_2(void *unused)\n{',
          '    uint64_t v = 0;',
          '    is_there = 1;',
          `${body(other, own(true))}    (void)v;`,
          '    is_done = 1;',
          '    return unused;',
          '}',
          '',
        ]
      : []),
    'static void program(void)\n{',
    ...(other ? ['    pthread_t second;'] : []),
    '    uint64_t v;',
    ...(arena.length > 0 ? ['    memcpy((void *)ARENA, memory, sizeof(memory));'] : []),
    `${used}    (void)v, (void)call, (void)call_forks, (void)good, (void)load, (void)fail_nth;`,
    '}',
    '',
    'int main(void)\n{',
    '    int status;',
    '    pid_t child = fork();',
    '    if (child == 0) {',
    '        prepare();',
    ...(hasFaults ? ['        mark();'] : []),
    '        program();',
    ...(other ? ['        while (!is_done)', '            usleep(1000);'] : []),
    '        _exit(0);',
    '    }',
    '    while (waitpid(child, &status, 0) < 0)\n        ;',
    '    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);',
    '}',
    '',
  ].join('\n');
}

/** The second thread begins: both come to their next calls at about the same time. */
const START = `    if (pthread_create(&second, NULL, program_2, NULL))
        _exit(2);
    while (!is_there)
        ;
`;

function rows(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 16)
    text += `    ${[...bytes.subarray(at, at + 16)].map(byte => `0x${byte.toString(16)}`).join(', ')},\n`;
  return text;
}

/** The agent's words as statements. */
export function body(words: BigUint64Array, { calls }: Program): string {
  let [text, index] = ['', 0];
  for (let at = 0; at < words.length; ) {
    const op = Number(words[at]);
    if (op === OP.END) break;
    if (op === OP.GO) {
      text += START;
      at++;
      continue;
    }
    if (op === OP.CALL) {
      const [number, flags, fail, slot, ...args] = words.slice(at + 1, at + 17);
      const values = Array.from({ length: 6 }, (_, i) =>
        args[2 * i] === 1n ? `r[${args[2 * i + 1]}]` : hex(args[2 * i + 1]!),
      );
      const name = Number(flags) & CALL_FORKS ? 'call_forks' : 'call';
      text += `    /* ${calls[index++]!.type.name} */\n`;
      if (fail! > 0n) text += `    fail_nth("${fail}");\n`;
      text += `    v = ${name}(${number}, ${values.join(', ')});\n`;
      if (fail! > 0n) text += '    fail_nth("0");\n';
      if (slot! < BigInt(LAYOUT.MAX_SLOTS)) text += `    if (good(v))\n        r[${slot}] = v;\n`;
      at += 17;
      continue;
    }
    const [address, bytes, slot] = words.slice(at + 1, at + 4);
    text +=
      op === OP.STORE
        ? `    memcpy((void *)${hex(address!)}, &r[${slot}], ${bytes});\n`
        : `    if (good(v))\n        r[${slot}] = load(${hex(address!)}, ${bytes});\n`;
    at += 4;
  }
  return text;
}
