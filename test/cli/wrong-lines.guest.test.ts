// Wrong command lines: each ends with the documented status and one line that gives the error, its
// object and, if possible, the remedy; nothing goes to standard output and no file is left behind.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isOneLine, kcovbox, kcovboxLines, type Ran, type RanLine, ROOT } from '../support/command.ts';

const cwd = mkdtempSync(join(tmpdir(), 'kcovbox-wrong-'));
const EXAMPLE = join(ROOT, 'guest-programs', 'openbsd-kcov.c');
const LINUX = join(ROOT, 'guest-programs', 'linux-kcov.c');
const SUMMER = join(ROOT, 'examples', 'device', 'summer.ts');
let before: string[];

beforeAll(() => {
  const file = (name: string, contents: string | Uint8Array): void =>
    writeFileSync(join(cwd, name), contents);
  file('ok.c', 'int main(void) { return 0; }\n');
  file('other.c', 'int main(void) { return 1; }\n');
  file('obsd.c', '#include <sys/kcov.h>\nint main(void) { return 0; }\n');
  file('nolink.c', 'int f(void);\nint main(void) { return f(); }\n');
  file('s.sh', '#!/bin/sh\necho hi\n');
  file('empty.elf', '');
  file('text', 'hello\n'.repeat(50));
  file('own.c', '#include "own.h"\n');
  file('cut.elf', Uint8Array.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0, 0, 0]));
  file('bad.kcov', 'not a trace\n');
  file('a b.c', 'int main(void) { return 0; }\n');
  file('r.json', '{"format":"kcovbox recording","version":2}');
  file('ü.c', 'int main(void) { return 0; }\n');
  file('image.bin', new Uint8Array(64));
  mkdirSync(join(cwd, 'folder'));
  execFileSync('mkfifo', [join(cwd, 'pipe.c')]);
  symlinkSync('loop', join(cwd, 'loop'));
  expect(kcovbox(['run', '--cover', 'a.kcov', EXAMPLE], { cwd }).status).toBe(0);
  expect(kcovbox(['run', '--dialect', 'linux', '--trace', '--cover', 'l.kcov', 'ok.c'], { cwd }).status).toBe(
    0,
  );
  expect(kcovbox(['run', '--dialect', 'linux', '--cover', 'c.kcov', LINUX, '--', '1'], { cwd }).status).toBe(
    0,
  );
  expect(kcovbox(['cov', 'merge', '-o', 'both.kcov', 'l.kcov', 'c.kcov'], { cwd }).status).toBe(0);
  expect(kcovbox(['run', '--snapshot', 'ok.snap', 'ok.c'], { cwd }).status).toBe(0);
  before = readdirSync(cwd).sort();
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

/**
 * Words of the command line, separated by blanks ("␣" stands for one, `""` for an empty word); the
 * message; another status than 125.
 */
type Line = readonly [line: string, message: RegExp, status?: number];

const GENERAL: readonly Line[] = [
  ['frobnicate', /unknown command 'frobnicate'/],
  ['rnu ok.c', /unknown command 'rnu'.*run/],
  ['--frobnicate', /unknown option '--frobnicate'/],
  ['help frobnicate', /no command "frobnicate"/],
  ['help cov frobnicate', /no command "frobnicate"/],
  ['doctor --frobnicate', /unknown option '--frobnicate'/],
  ['demo more', /too many arguments/],
  ['check --steps 0 -kernel ok.c', /check: unknown option --steps/],
  ['debug --source nothing bad.kcov', /--source <dir>.*'nothing' is invalid\. there is no such folder/],
  ['why --source ok.c bad.kcov', /--source <dir>.*'ok\.c' is invalid\. there is no such folder/],
];

const RUN: readonly Line[] = [
  ['run', /missing required argument 'program'/],
  ['run --trace --cover ok.c', /missing required argument 'program': ok\.c is the value of --cover/],
  ['run nothing.c', /program nothing\.c: no such file/],
  ['run nothing', /program nothing: no such file/],
  ['run .', /\. is a folder/],
  ['run loop', /program loop:/],
  ['run --result loop ok.c', /cannot write loop: /],
  ['run /dev/null', /is a device/],
  ['run empty.elf', /empty\.elf is empty/],
  ['run text', /neither C source \(\.c\) nor an ELF file/],
  ['run cut.elf', /cut\.elf is a truncated ELF file/],
  ['run a␣b.c', /"a b" has blanks/],
  ['run --frobnicate ok.c', /unknown option '--frobnicate'/],
  ['run --smp 2 --smp 2 ok.c', /--smp <harts> is given twice: leave one of them out/],
  ['run -k a -k b ok.c', /-k, --kernel <elf> is given twice/],
  ['run --cover x.kcov --cover y.info ok.c', /--cover <file> is given twice/],
  ['run --ubsan --ubsan=trap ok.c', /--ubsan \[.*\] is given twice/],
  ['run --dialect plan9 ok.c', /'plan9' is invalid.*openbsd, netbsd, freebsd, linux/],
  ['run --kcov on ok.c', /'on' is invalid.*device, guest, off/],
  ['run --engine fast ok.c', /'fast' is invalid.*jit, interp, lockstep/],
  ['run --smp 0 ok.c', /--smp.*1 to 8/],
  ['run --smp 9 ok.c', /--smp.*1 to 8/],
  ['run --smp two ok.c', /--smp.*1 to 8/],
  ['run -m 1 ok.c', /-m.*16M to 2G/],
  ['run -m 3G ok.c', /-m.*16M to 2G/],
  ['run -m much ok.c', /-m.*16M to 2G/],
  ['run --seed zz ok.c', /--seed.*hexadecimal/],
  ['run --sched-seed 0x ok.c', /--sched-seed.*hexadecimal/],
  ['run --schedule walk ok.c', /--schedule.*expected rw, rp, pos or pct:DEPTH/],
  ['run --schedule pct:0 ok.c', /--schedule.*a depth of 1 to 16/],
  ['schedules ok.c', /one hart has one order: give --smp 2 or more/],
  ['schedules --smp 2 --sched-seed 1 ok.c', /unknown option '--sched-seed'/],
  ['run --max-insns 0 ok.c', /--max-insns.*positive/],
  ['run --max-insns 0.5 ok.c', /--max-insns.*positive/],
  ['run --max-insns lots ok.c', /--max-insns.*positive/],
  ['run --max-insns 1e16 ok.c', /--max-insns.*a whole number of at most 9007199254740991/],
  ['run --snapshot x.snap --snapshot-at 1e99 ok.c', /--snapshot-at.*of at most 9007199254740991/],
  ['run --conf linux+frob ok.c', /no kernel configuration "frob"; there are/],
  ['run --conf kasan ok.c', /names no personality/],
  ['run --ubsan=maybe ok.c', /report, trap/],
  ['run --fail-nth 0 ok.c', /from 1 to/],
  ['run --hung-task x ok.c', /seconds from 1 to/],
  ['run --env A ok.c', /--env.*NAME=VALUE/],
  ['run --env 1A=b ok.c', /--env.*NAME=VALUE/],
  ['run --cflags -frobnicate ok.c', /ok\.c does not compile/, 123],
  ['run ""', /run: the argument "program" is empty/],
  ['run --cover= ok.c', /--cover <file>: the path is empty/],
  ['run --record "" ok.c', /--record <file>: the path is empty/],
  ['run -k "" ok.c', /-k, --kernel <elf>: the path is empty/],
  ['run --result ok.c ok.c', /--result ok\.c: the file is an input; choose another file/],
  ['run --result ./ok.c ok.c', /--result \.\/ok\.c: the file is an input/],
  ['run --device text --result text ok.c', /--result text: the file is an input/],
  ['dev header -o text text', /-o text: the file is an input; choose another file/],
  ['bugs run no_such_bug', /there is no bug named "no_such_bug"; kcovbox bugs list shows them/],
  ['bugs run --conf linux epoll_loop', /--conf linux: write linux\+bugs, which has the bugs/],
  ['bugs score missing.c', /missing\.c/],
  ['faults sweep -o ok.c ok.c', /-o ok\.c: the file is an input; choose another file/],
  ['run --cover x.kcov --result x.kcov ok.c', /--result x\.kcov: the file is that of --cover; choose two/],
  ['run --snapshot - ok.c', /--snapshot -: a snapshot is a file; give its name/],
  ['run ü.c', /program name "ü" has blanks or characters other than ASCII; rename it/],
  ['run s.sh', /program s\.sh is a script, and the guest has no interpreter: give C source or/],
  ['run nolink.c', /nolink\.c compiles but does not link: the linker's words are above/, 123],
  [
    'run --from ok.snap other.c',
    /ok\.snap is of another run: program\.argv is \["other"\], was \["ok"\]; give/,
  ],
  ['run --from ok.snap --seed 5 ok.c', /ok\.snap is of another run: --seed is 0x5, was not given; give the/],
  ['run --from ok.snap -m 128M ok.c', /ok\.snap is of another run: -m is 128M, was 256M; give the/],
  [
    `run --append ${'w'.repeat(100_000)} ok.c`,
    /the words to append take 100000 bytes: 64\d+ fit on the kernel/,
  ],
  [
    `run --append ${'w,'.repeat(999)}w ok.c`.replaceAll(',', '␣'),
    /: 1000 words to append are too many: 2\d\d fit/,
  ],
  [`run --env A=${'w'.repeat(100_000)} ok.c`, /the variables of the environment take \d+ bytes: 64\d+ fit/],
  [
    'run --dialect linux obsd.c',
    /obsd\.c does not compile: sys\/kcov\.h comes with --dialect openbsd or netbsd or freebsd/,
    123,
  ],
  ['run --result /proc/x ok.c', /cannot write \/proc\/x: no file can be made in \/proc/],
  ['run --cover a.xyz ok.c', /--cover a\.xyz: the suffix names no format.*\.html/],
  ['run --cover noformat ok.c', /--cover noformat: the suffix names no format/],
  ['run --cover folder ok.c', /cannot write folder: it is a folder/],
  ['run --cover no/x.info ok.c', /cannot write no\/x\.info: no such folder/],
  ['run --result no/x.json ok.c', /cannot write no\/x\.json: no such folder/],
  ['run --record /proc/x ok.c', /cannot write \/proc\/x/],
  ['run --cover x.info --format pdf ok.c', /'pdf' is invalid.*lcov/],
  ['run --format html ok.c', /--format html without --cover/],
  ['run --test-name t ok.c', /--test-name without --cover/],
  ['run --cover - --result - ok.c', /only one of them can be standard output/],
  [
    'run --cover x.info --result /dev/stdout --record - ok.c',
    /--record - and --result \/dev\/stdout: only one/,
  ],
  ['run --trace ok.c', /--trace without --cover/],
  ['run --driver nolink.c␣ ok.c', /driver .*nolink\.c : there is no such file/],
  ['run --driver text ok.c', /driver .*text does not compile/, 123],
  ['run --driver own.c ok.c', /own\.c does not compile: the header of a device comes with --device/, 123],
  ['run --kernel-source nothing ok.c', /kernel tree .*nothing: no such folder/],
  ['run --trace --test-name "" --cover x.info ok.c', /--test-name <name>: the name is empty/],
  [
    'run --fault edu:irq-drop@5=abc ok.c',
    /edu:irq-drop@5=abc: behind irq-drop comes @N, .*=TIME or =0xSEED, such as @5=20us/,
  ],
  [
    `run --device ${SUMMER} --device ${SUMMER} ok.c`,
    /another device is named summer; give it a name of its own/,
  ],
  ['run --gdb 1234 ok.c', /--gdb 1234: write it as tcp::PORT, with a port from 1 to 65535/],
  ['boot -gdb tcp::0 -kernel ok.elf', /-gdb tcp::0: write it as tcp::PORT/],
  ['run --snapshot s --snapshot-at end ok.c', /'end' is invalid.*first-instruction, marker, marker:N or a/],
  ['run --trace --kcov off --cover x.info ok.c', /--trace needs the kcov device/],
  ['run --trace --cover x.info text', /text is compiled already/],
];

const REPLAY: readonly Line[] = [
  ['replay', /missing required argument 'capsule'/],
  ['replay nothing.kcapsule', /capsule nothing\.kcapsule: no such file/],
  ['replay --device text --result text nothing.kcapsule', /--result text: the file is an input/],
  ['capsule thin -o ./text text', /-o \.\/text: the file is an input; choose another file/],
  ['replay text', /capsule text is not a capsule; make one with --record/],
  ['replay r.json', /capsule r\.json is JSON, as recordings were before capsules: record the run again/],
  ['replay --engine fast r.json', /'fast' is invalid/],
  ['replay --cover x.pdf r.json', /capsule r\.json is JSON|--cover x\.pdf: the suffix/],
  ['replay folder', /capsule folder is a folder/],
  ['run --thin ok.c', /--thin without --record/],
  ['boot --thin -kernel ok.elf', /--thin without --record/],
  ['boot -kernel image.bin --record image.bin', /--record image\.bin: the file is an input/],
  [
    'boot -kernel image.bin -drive file=text,if=none,format=raw,id=x0 -savevm ./text',
    /-savevm \.\/text: the file is an input/,
  ],
  ['boot --record x -s -kernel ok.elf', /--record without -gdb: a debugger can change the guest/],
  ['boot --record folder -kernel ok.elf', /cannot write folder: it is a folder/],
  ['capsule info text', /capsule text is not a capsule/],
  ['capsule verify r.json', /capsule r\.json is JSON/],
  ['capsule extract r.json', /required option '-o, --output <dir>'/],
  ['boot -savevm - -kernel image.bin', /boot: -savevm -: a snapshot is a file; give its name/],
  ['capsule thin -o folder r.json', /cannot write folder: it is a folder/],
  ['capsule frob', /unknown command 'frob': there are info, verify, extract, thin/],
];

const BOOT: readonly Line[] = [
  ['boot', /nothing to boot; give -kernel FILE/],
  ['boot kernel', /"kernel" is not an option; kernels are given with -kernel FILE/],
  ['boot -kernel', /-kernel needs a value/],
  ['boot -kernel ""', /boot: -kernel: the path is empty/],
  ['boot --record= -kernel image.bin', /boot: --record=: the path is empty/],
  ['boot -kernel nothing', /kernel nothing: no such file/],
  ['boot -kernel text', /text is neither an ELF file nor a Linux Image; raw code must be named \*\.bin/],
  ['boot -kernel ok.c', /kernel ok\.c is C source: kcovbox run compiles programs/],
  ['boot -kernel image.bin -frobnicate', /unknown option -frobnicate/],
  ['boot -kernel image.bin -m 1', /-m 1/],
  ['boot -kernel image.bin -smp 99', /-smp 99/],
  ['boot -kernel image.bin --engine jit --engine=interp', /boot: --engine=interp is given twice: leave/],
  ['boot -kernel image.bin -M pc', /-machine pc: expected one of virt/],
  ['boot -kernel image.bin -device frob', /-device frob/],
  ['boot -kernel image.bin -drive if=none', /no file=/],
  ['boot -kernel image.bin -bios nothing', /bios nothing: no such file/],
  ['check --oracle bochs -kernel image.bin', /--oracle bochs: one of qemu, unicorn/],
];

const BUILD: readonly Line[] = [
  ['build', /missing required argument 'what'/],
  ['build ok.c -o ok.c', /-o ok\.c: the file is an input; choose another file/],
  ['build ok.c -o folder', /cannot write folder: it is a folder/],
  ['build nothing.c', /program nothing\.c: no such file/],
  ['build /dev/zero', /program \/dev\/zero is a device, not a file/],
  ['build pipe.c', /program pipe\.c is a pipe, not a file/],
  ['build folder', /program folder is a folder, not a file/],
  ['build kernel --conf linux --dialect netbsd', /--conf linux is a kernel of linux, --dialect says netbsd/],
  ['build kernel --conf frob', /no kernel configuration "frob"/],
  ['build ok.c -o no/ok', /cannot write no\/ok: no such folder/],
  ['build kernel --cflags -DX', /build kernel: --cflags does not apply to it; leave it out/],
  ['build ok.c --conf linux', /build ok\.c: --conf does not apply to it; leave it out/],
  ['disasm', /missing required argument 'input'/],
  ['disasm 0015051z', /neither a file nor an instruction word/],
  ['disasm nothing.elf', /nothing\.elf: no such file/],
  ['disasm text', /text/],
  ['symbolize --kernel nothing.elf -k nothing.elf', /-k, --kernel <elf> is given twice/],
  ['check --oracle qemu --oracle unicorn -kernel image.bin', /check: --oracle is given twice/],
  ['disasm --start z text', /--start.*hexadecimal/],
  ['symbolize -k nothing.elf', /nothing\.elf: no such file/],
  ['symbolize -k text', /text/],
  ['symbolize --addresses', /--addresses needs the image: add -k ELF/],
  ['bench frob', /no workload "frob"; there are/],
  ['bench --engines frob mix', /no engine "frob"; there are/],
  ['bench --against folder', /bench --against: folder is no checkout of kcovbox/],
  ['bench --from nothing.json', /report nothing\.json: no such file/],
  ['bench --from text', /report text: not JSON; make one with kcovbox bench --json FILE/],
  ['bench --from r.json', /report r\.json: machine: .*; make one with/],
  ['bench -r 0 mix', /-r.*positive/],
  ['bench --scale 0 ash', /--scale.*positive/],
  ['bench --program nothing.elf', /program nothing\.elf: no such file/],
  ['bench --program text --scale 2', /bench --program: --scale does not apply to it/],
  ['bench --cold --json x.json', /bench --cold: --json does not apply to it; leave it out/],
  ['bench --from r.json --json x.json', /bench --from: --json does not apply to it; leave it out/],
  ['bench --json - --svg - mix', /only one of them can be standard output/],
];

const COV: readonly Line[] = [
  ['cov frobnicate', /unknown command 'frobnicate'/],
  ['cov report', /missing required argument 'trace'/],
  ['cov report -o a.kcov', /missing required argument 'trace': a\.kcov is the value of -o/],
  ['cov report ""', /report: the argument "trace" is empty/],
  ['cov report nothing.kcov', /trace nothing\.kcov: no such file/],
  ['cov report bad.kcov', /bad\.kcov/],
  ['cov report -', /trace -: no such file; standard input is not read: name a file/],
  ['cov report -p 0x10-0x5 a.kcov', /the range 0x10-0x5 is empty/],
  ['cov report a.kcov l.kcov', /a\.kcov and l\.kcov were recorded on different images/],
  ['cov report --by colour a.kcov', /'colour' is invalid.*file, function, source/],
  ['cov report -o a.pdf a.kcov', /-o a\.pdf: reports are \.html and \.txt/],
  ['cov report -o no/a.html a.kcov', /cannot write no\/a\.html: no such folder/],
  ['cov report --fail-under 101 a.kcov', /--fail-under.*from 0 to 100/],
  ['cov report --fail-under abc a.kcov', /--fail-under.*from 0 to 100/],
  ['cov report -F "" a.kcov', /-F, --file <glob>: the pattern is empty/],
  ['cov report -f "" a.kcov', /-f, --function <regex>: the pattern is empty/],
  ['cov filter -f "" -o x.kcov a.kcov', /-f, --function <regex>: the pattern is empty/],
  ['cov report -p "" a.kcov', /"" is not a range of addresses/],
  ['why --console "" a.kcapsule', /'--console <regex>' argument '' is invalid\. the pattern is empty/],
  ['cov report -F nomatch a.kcov', /nothing instrumented matches -F nomatch/],
  ['cov report -f ( a.kcov', /"\(" is/],
  ['cov report -p 5 a.kcov', /"5" is/],
  ['cov report -k text a.kcov', /text/],
  ['cov stats -f ^nomatch$ a.kcov', /nothing instrumented matches -f \^nomatch\$/],
  ['cov diff a.kcov', /missing required argument 'B'/],
  ['cov diff a.kcov l.kcov', /a\.kcov and l\.kcov were recorded on different images; their PCs/],
  ['cov diff -k ok.c a.kcov l.kcov', /a\.kcov and l\.kcov were recorded on different images; their PCs/],
  ['cov explain sys_read', /"sys_read" is/],
  ['cov explain 0x1', /needs the image/],
  ['cov merge a.kcov', /required option '-o, --output <file>'/],
  ['cov merge a.kcov l.kcov -o m.kcov', /different images/],
  [
    'cov merge -o x.info a.kcov',
    /-o x\.info: cov merge writes a trace, \.kcov; for one of .*\.html.* cov export/,
  ],
  ['cov merge -o all a.kcov', /-o all: cov merge writes a trace, \.kcov/],
  ['cov filter -o x.html a.kcov', /-o x\.html: cov filter writes a trace, \.kcov; for one of .*\.html.* cov/],
  ['cov filter -o x.lcov a.kcov', /-o x\.lcov: cov filter writes a trace, \.kcov; for one of/],
  ['cov filter a.kcov', /required option '-o, --output <file>'/],
  ['cov filter --kind pc --kind cmp -o f.kcov a.kcov', /--kind <kind> is given twice: leave one of them/],
  ['cov report --format=text --format=html a.kcov', /--format <format> is given twice/],
  ['cov filter --kind foo -o f.kcov a.kcov', /'foo' is invalid.*pc, cmp, edge/],
  ['cov filter --context foo -o f.kcov a.kcov', /'foo' is invalid.*task, remote/],
  ['cov filter --test nosuch -o f.kcov a.kcov', /a\.kcov has no test "nosuch"; there are openbsd-kcov/],
  ['cov filter --test openbsd-kcov --test b -o f.kcov a.kcov', /a\.kcov has no test "b"; there are/],
  ['cov filter --thread x -o f.kcov a.kcov', /--thread.*whole number/],
  ['cov export a.kcov', /add --format, one of/],
  ['cov export -o x.pdf a.kcov', /-o x\.pdf: the suffix names no format/],
  ['cov export --format pdf a.kcov', /'pdf' is invalid.*lcov/],
  ['cov export --table frob -o x.csv a.kcov', /'frob' is invalid.*records, files, functions, pcs/],
  ['cov export --kind frob -o x.raw a.kcov', /'frob' is invalid.*pc, cmp, edge/],
  ['cov export --kind edge -o x.raw a.kcov', /the trace holds pc records and none of kind edge: choose/],
  [
    'cov export --kind cmp -f ^cache_fault$ -o x.raw both.kcov',
    /-f \^cache_fault\$ selects pc records and none of kind cmp: choose another \(--kind\)$/m,
  ],
  ['cov export -o x.raw both.kcov', /the trace holds pc and cmp records; a raw area holds one kind: choose/],
  ['cov export -S folder -o x.info a.kcov', /--source is for html and source, and the output is lcov/],
  ['cov export --module "" -o x.txt a.kcov', /--module <name>: the name is empty/],
  ['cov report --title "" -o x.html a.kcov', /--title <text>: the title is empty/],
  ['cov export -F nomatch -o x.raw a.kcov', /nothing instrumented matches -F nomatch/],
  ['cov export -o no/x.info a.kcov', /cannot write no\/x\.info: no such folder/],
  ['cov report --by source -o x.html a.kcov', /--by is for text, and the output is html/],
  ['cov report --format html -o a.kcov a.kcov', /-o a\.kcov: the file is an input; choose another file/],
  ['cov diff --format html -o ./a.kcov a.kcov a.kcov', /-o \.\/a\.kcov: the file is an input/],
  ['cov export --format lcov -o a.kcov a.kcov', /-o a\.kcov: the file is an input/],
  ['cov merge -o a.kcov a.kcov', /-o a\.kcov: the file is an input/],
  ['cov filter -o a.kcov a.kcov', /-o a\.kcov: the file is an input/],
  ['cov report --title t a.kcov', /--title is for html, and the output is text/],
  ['cov report -S nothing a.kcov', /-S.*'nothing' is invalid.*no such folder/],
  ['cov export --table files -o x.json a.kcov', /--table is for csv, and the output is json/],
  ['cov export --kind pc -o x.info a.kcov', /--kind is for raw, and the output is lcov/],
  ['cov export --in-order -o x.info a.kcov', /--in-order is for rawcover, and the output is lcov/],
  ['cov export --source-root / -o x.csv a.kcov', /--source-root is for lcov and cobertura, and/],
  ['cov export --module m -o x.html a.kcov', /--module is for drcov and modoff, and the output is html/],
];

const LAB: readonly Line[] = [
  ['lab', /lab: a command is missing; there are ls, start, test, hint, submit, new, check; /],
  ['lab start 99', /there is no lab 99; there are 00-first-trace, /],
  ['lab start 0 folder/x/../../ok.c', /cannot write folder\/x\/\.\.\/\.\.\/ok\.c: /],
  ['lab start 0 .', /\. is not empty; name another folder: kcovbox lab start 00-first-trace DIR/],
  ['lab start 0 /proc/x', /cannot write \/proc\/x: no file can be made in \/proc/],
  ['lab start 0 /dev/null', /cannot write \/dev\/null: a file of this name is there/],
  ['lab start 0 -', /lab start: -: a folder cannot be standard output; name another folder: /],
  ['lab test', /is not the folder of a lab: it has no lab\.kcovbox; kcovbox lab start makes one/],
  ['lab test nowhere', /nowhere is not the folder of a lab/],
  ['lab hint', /is not the folder of a lab/],
  ['lab submit -o x.tar', /lab submit -o x\.tar: the archive is a \.zip/],
  ['lab submit -o x.zip', /is not the folder of a lab/],
  ['lab submit', /required option '-o, --output <file>' not specified: the archive, such as ada\.zip; - for/],
  ['lab new .', /lab new: \. is not empty; name another folder: kcovbox lab new DIR/],
  ['lab new /proc/x', /cannot write \/proc\/x: no file can be made in \/proc/],
  ['lab check folder', /there is no lab folder; there are /],
  ['grade folder', /required option '--lab <lab>'/],
  ['grade folder --lab 77', /there is no lab 77/],
  ['grade folder --lab 0', /folder has no submissions: one folder or one \.zip of lab submit for each/],
  ['grade nowhere --lab 0', /nowhere is not a folder of submissions/],
  ['grade nowhere --lab 0 -o nowhere/out', /nowhere is not a folder of submissions/],
  ['grade text --lab 0', /text is not a folder of submissions/],
  [
    'grade . --lab 0 -o .',
    /grade: -o \. is in \., and would be judged as a submission; give a folder elsewhere/,
  ],
  ['grade folder --lab 0 -o .', /grade: \. is not empty; give a new folder with -o/],
  ['grade . --lab 0 -o -', /grade: -: a folder cannot be standard output; give a new folder with -o/],
  ['grade . --lab 0 --teacher folder', /grade: --teacher folder: it has no folder solution\//],
  ['grade . --lab 0 --alike 0', /--alike <percent>.*'0' is invalid\. expected 1 to 100/],
  ['grade . --lab 0 --classroom text', /--classroom text is not JSON: /],
  ['grade . --lab 0 --classroom r.json', /--classroom r\.json: classroom: /],
];

const FUZZ: readonly Line[] = [
  ['fuzz run --call nope* new', /no call matches "nope\*"/],
  ['fuzz run --describe ok.c new', /ok\.c:1: "int" begins no declaration/],
  ['fuzz run --seed zz new', /'zz' is invalid.*hexadecimal/],
  ['fuzz run folder/../ok.c', /cannot write|is not a folder/],
  ['fuzz exec text', /text:1: /],
  ['fuzz exec folder', /program folder is a folder, not a file/],
  ['fuzz verify folder', /folder has no campaign\.json/],
  ['experiment plan text', /text:1:1: /],
  ['experiment run folder', /folder/],
];

const PARTS = { GENERAL, RUN, REPLAY, BOOT, BUILD, COV, LAB, FUZZ };

const wordsOf = (line: string): string[] =>
  line
    .split(' ')
    .filter(Boolean)
    .map(word => (word === '""' ? '' : word.replaceAll('␣', ' ')));

/**
 * All lines of a part run in one process, and the first in one of its own too, as a user's does;
 * wrong-lines.slow.test.ts gives one to each line.
 */
const isThorough = process.env['KCOVBOX_THOROUGH'] !== undefined;
/** They start kcovbox again, in a sandbox, whose words would miss those of the one process. */
const STARTS_ANOTHER = /^grade (?:folder --lab 0$|\. --lab 0 --classroom )/;

for (const [part, lines] of Object.entries(PARTS))
  describe(part, () => {
    const together = lines.map(([line]) => line).filter(line => !STARTS_ANOTHER.test(line));
    let ran: readonly RanLine[];
    beforeAll(() => {
      ran = kcovboxLines(together.map(wordsOf), { cwd });
    });
    for (const [line, message, status = 125] of lines) {
      const judge = (one: Ran, files: readonly string[]): void => {
        const { stdout, stderr } = one;
        expect({ status: one.status, stdout, stderr }).toEqual({
          status,
          stdout: '',
          stderr: expect.stringMatching(message),
        });
        // A compiler has its own words first.
        const last = `${stderr.trimEnd().split('\n').at(-1)}\n`;
        expect(status === 123 ? last : stderr).toSatisfy(isOneLine);
        expect(stderr).not.toMatch(/internal error|^\s+at /m);
        expect(files).toEqual(before);
      };
      const place = together.indexOf(line);
      if (place >= 0) test(`kcovbox ${line}`, () => judge(ran[place]!, ran[place]!.files));
      if (place <= 0 || isThorough)
        test(`kcovbox ${line}: in a process of its own`, () => {
          judge(kcovbox(wordsOf(line), { cwd }), readdirSync(cwd).sort());
        });
    }
  });

test('there are ninety of them, and more', () => {
  const count = [GENERAL, RUN, REPLAY, BOOT, BUILD, COV].reduce((sum, lines) => sum + lines.length, 0);
  expect(count).toBeGreaterThanOrEqual(90);
});
