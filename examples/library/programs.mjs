// Programs of system calls that you describe. Runs in Node and, unchanged, in a page.
// Usage: node programs.mjs
import { parseDescriptions } from 'kcovbox/fuzz';

// A kernel's table, and the types of its arguments (docs/fuzzing.md, "Descriptions").
const table = `
SYSCALL(56, openat, 4)
SYSCALL(57, close, 1)
SYSCALL(59, pipe2, 2)
SYSCALL(63, read, 3)
`;
const types = `
resource fd: int32 = -1
strings paths = "f", "d", "/dev/null"
flags open_flags = O_RDWR 2, O_CREAT 0x40, O_TRUNC 0x200
struct pair { read: fd, write: fd }
call openat(dir: int32 = -100, path: ptr string paths, flags: flags32 open_flags) -> fd
call pipe2(fds: out pair, flags: int32 = 0)
call read(fd: fd, buffer: out bytes[0:64], size: len64 buffer)
call close(fd: fd)
`;
const descriptions = parseDescriptions([{ name: 'types.kd', text: types }], table);
for (const { name, number, args, returns } of descriptions.calls)
  console.log(
    `${number} ${name}: ${args.map(arg => arg.type.kind).join(', ')} -> ${returns?.name ?? 'number'}`,
  );

// The same seed gives the same programs everywhere.
const generator = descriptions.generator({ seed: 3n });
const program = generator.program();
console.log(program.text.trimEnd());
console.log(`changed:\n${generator.mutate(program).text.trimEnd()}`);

// A program is its text; what it needs is made by earlier calls.
const pipe = descriptions.program('pipe2(&{>r0, >r1}, 0x0)\nread(r0, &out[8], 0x8)\nclose(r1)\n');
console.log(`with a close: ${pipe.minimize(({ calls }) => calls.includes('close')).text.trimEnd()}`);
console.log(`in C: ${pipe.c().match(/call\(63, .*\)/)[0]}`);
