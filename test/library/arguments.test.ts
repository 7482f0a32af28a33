// Wrong arguments of everything that the package exports: each is one KcovboxError with one line,
// which names the function, the argument and the expected value. An export without rows fails.
import { describe, expect, test } from 'vitest';
import { TraceBuilder, writeTrace } from '../../coverage/index.ts';
import * as coverage from '../../library/coverage.ts';
import * as device from '../../library/device.ts';
import * as emulator from '../../library/emulator.ts';
import * as fuzz from '../../library/fuzz.ts';
import * as node from '../../library/node.ts';

const ENTRIES = { emulator, coverage, node, fuzz, device };

// biome-ignore lint/suspicious/noExplicitAny: the arguments that no type checker lets through
type Any = any;
type Row = readonly [call: () => unknown, message: RegExp];

const kernel = new Uint8Array(Uint32Array.of(0x6f).buffer); // j .
const make = (more: Any = {}): emulator.Machine =>
  new emulator.Machine({ kernel, bios: 'none', memory: 2 ** 21, ...more });
const machine = make();
const trace = coverage.readTrace(Buffer.concat([...writeTrace(new TraceBuilder({ image: 'x' }).finish())]));
/** An instance whose arguments are checked before anything else of it is read. */
const bare = <T>(type: { readonly prototype: T }): T => Object.create(type.prototype as object) as T;
const image = bare(coverage.Image);
const measured = bare(coverage.Coverage);
const definition = (more: Any = {}): Any => ({
  name: 'd',
  compatible: 'a,b',
  doc: 'd',
  registers: { r: { at: 0, access: 'rw', doc: 'd' } },
  ...more,
});
const bench = new device.DeviceBench(definition());
const described = fuzz.parseDescriptions(
  [{ name: 'a.kd', text: 'call close(fd: int32)' }],
  'SYSCALL(57, close, 1)',
);
const others = fuzz.parseDescriptions([], 'SYSCALL(57, close, 1)');
const closing = described.program('close(0x5)');
const generator = described.generator();
const target = bare(fuzz.FuzzTarget);
const guest = {
  ...{ conf: 'linux', kernel, initrd: kernel, append: '', tail: '', threads: false },
  ...{ faultable: [], files: [], syscalls: '' },
};
const opening = (more: Any, options?: Any) => () => fuzz.openFuzzTarget({ ...guest, ...more }, options);
const added = { base: 0x500_0000, size: 4096, create: () => ({}) };

/** Functions without parameters. */
const TAKES_NOTHING: readonly Row[] = [];
/** The error class: the library makes its instances. */
const NOT_CALLED: readonly Row[] = [];

const ROWS: Readonly<Record<string, readonly Row[]>> = {
  'emulator.KcovboxError': NOT_CALLED,
  'emulator.readSymbols': [
    [() => emulator.readSymbols('a.elf' as Any), /^readSymbols: bytes is "a\.elf", expected the bytes of/],
    [() => emulator.readSymbols(kernel, 3 as Any), /^readSymbols: name is 3, expected a string$/],
  ],
  'emulator.Machine': [
    [() => new (emulator.Machine as Any)(), /^new Machine: options is undefined, expected an object$/],
    [() => new (emulator.Machine as Any)(null), /options is null, expected an object$/],
    [() => make({ ram: 3 }), /^new Machine: options\.ram does not exist; there are kernel, initrd, /],
    [() => make({ kernel: 'str' }), /options\.kernel is "str", expected the bytes of an image/],
    [() => make({ kernel: { name: 'a' } }), /options\.kernel\.bytes is undefined, expected the bytes/],
    [() => make({ initrd: [1] }), /options\.initrd\.0 does not exist/],
    [() => make({ images: {} }), /options\.images is an object, expected an array/],
    [() => make({ images: [{ image: kernel, at: '1' }] }), /options\.images\[0\]\.at is "1"/],
    [() => make({ bios: 'x' }), /options\.bios is "x", expected one of default, none/],
    [() => make({ append: 3 }), /options\.append is 3, expected a string/],
    [() => make({ dtb: 'x' }), /options\.dtb is "x"/],
    [() => make({ memory: '1G' }), /options\.memory is "1G", expected a number of bytes, such as/],
    [() => make({ memory: 3 }), /of ram: 2 MiB to 3584 MiB are possible$/],
    [() => make({ harts: '2' }), /options\.harts is "2", expected a whole number from 1 to 8$/],
    [() => make({ harts: 9 }), /options\.harts is 9/],
    [() => make({ cpu: {} }), /options\.cpu is an object, expected a string/],
    [() => make({ cpu: 'z80' }), /z80/],
    [() => make({ engine: 'fast' }), /options\.engine is "fast", expected one of jit, interp, lockstep/],
    [() => make({ kcov: 'off' }), /options\.kcov is "off", expected true or false/],
    [() => make({ countInstructions: { low: 0, high: 8 } }), /countInstructions\.low is 0, expected a big/],
    [() => make({ virtio: [{ kind: 'net' }] }), /virtio\[0\]\.kind is "net", expected one of blk/],
    [() => make({ virtio: [{ kind: 'blk' }] }), /virtio\[0\]\.image is undefined/],
    [() => make({ virtio: [{ kind: 'rng', slot: 8 }] }), /virtio\[0\]\.slot is 8/],
    [() => make({ virtio: [{ kind: 'console', size: { rows: 1 } }] }), /size\.cols is undefined/],
    [() => make({ devices: [{}] }), /options\.devices\[0\]\.base is undefined/],
    [() => make({ devices: [added] }), /^device at 0x5000000: the result of create\.name is undefined/],
    [() => make({ devices: [{ ...added, create: () => 3 }] }), /the result of create is 3, expected an obj/],
    [
      () => make({ seed: 3 }),
      /options\.seed is 3, expected a bigint from 0n to 2n \*\* 64n - 1n, such as 5n/,
    ],
    [() => make({ seed: -1n }), /options\.seed is -1n, expected a bigint from 0n/],
    [() => make({ seed: 2n ** 64n }), /options\.seed is 18446744073709551616n, expected a bigint from 0n/],
    [() => make({ schedSeed: -1n }), /options\.schedSeed is -1n/],
    [() => make({ rtcBase: -1n }), /options\.rtcBase is -1n, expected a bigint: nanoseconds from 1970 on/],
    [() => make({ countInstructions: { low: -4n, high: 8n } }), /countInstructions\.low is -4n/],
    [() => make({ schedSeed: null }), /options\.schedSeed is null/],
    [() => make({ icount: 11 }), /options\.icount is 11, expected a whole number from 0 to 10/],
    [() => make({ rtcBase: 3 }), /options\.rtcBase is 3/],
    [() => make({ onConsole: 'x' }), /options\.onConsole is "x", expected a function/],
    [() => make({ replay: 'x' }), /options\.replay is "x", expected an array/],
    [() => make({ replay: [{ at: 1 }] }), /options\.replay\[0\]\.port is undefined/],
    [() => make({ replay: [{ at: 1, port: 'uart', bytes: [256] }] }), /replay\[0\]\.bytes is an array/],
  ],
  'emulator.Machine.run': [
    [() => machine.run('x' as Any), /^Machine\.run: units is "x", expected a whole number from 0 on, or Inf/],
    [() => machine.run(Number.NaN), /units is NaN/],
    [() => machine.run(-1), /units is -1/],
    [() => machine.run(3n as Any), /units is 3n/],
    [() => machine.run(1, 0.5), /duration is 0\.5/],
  ],
  'emulator.Machine.runUntil': [
    [() => machine.runUntil('x' as Any), /^Machine\.runUntil: isDone is "x", expected a function$/],
    [() => machine.runUntil(() => false, { unit: 3 } as Any), /options\.unit does not exist; there are unit/],
    [() => machine.runUntil(() => false, { every: 0 }), /options\.every is 0/],
    [() => machine.runUntil(() => false, 5 as Any), /options is 5, expected an object/],
  ],
  'emulator.Machine.reset': TAKES_NOTHING,
  'emulator.Machine.input': [
    [() => machine.input(3 as Any), /^Machine\.input: data is 3, expected text, or bytes/],
    [() => machine.input([1, 300]), /data\[1\] is 300, expected a whole number from 0 to 255$/],
    [() => machine.input('x', 'tty' as Any), /port is "tty", expected one of uart, /],
  ],
  'emulator.Machine.timeline': [
    [() => machine.timeline({ spacing: 0 }), /^Machine\.timeline: options\.spacing is 0/],
    [() => machine.timeline({ space: 1 } as Any), /options\.space does not exist|space/],
    [() => machine.timeline().seek(-1), /^Timeline\.seek: unit is -1/],
    [() => machine.timeline().lastWrite('x' as Any, 8), /^Timeline\.lastWrite: address is "x"/],
    [() => machine.timeline().lastWrite(0, 9999), /bytes is 9999/],
    [() => machine.timeline().moments(0, { most: 0 }), /options\.most is 0/],
    [() => machine.timeline().event('frob' as Any, 1), /^Timeline\.event: kind is "frob"/],
    [() => machine.timeline().event('record', 0), /n is 0/],
  ],
  'emulator.Machine.takeOutput': TAKES_NOTHING,
  'emulator.Machine.symbol': [[() => machine.symbol(3 as Any), /^Machine\.symbol: name is 3/]],
  'emulator.Machine.readPhysical': [
    [() => machine.readPhysical('x' as Any, 1), /^Machine\.readPhysical: address is "x", expected an addr/],
    [() => machine.readPhysical(0x8000_0000, '3' as Any), /bytes is "3", expected a whole number/],
    [() => machine.readPhysical(0, 4), /4 bytes at 0x0 are not in ram$/],
  ],
  'emulator.Machine.writePhysical': [
    [() => machine.writePhysical(1.5, kernel), /^Machine\.writePhysical: address is 1\.5/],
    [() => machine.writePhysical(0x8000_0000, 'abc' as Any), /data is "abc", expected a Uint8Array$/],
  ],
  'emulator.Machine.readVirtual': [
    [() => machine.readVirtual('x' as Any, 1), /^Machine\.readVirtual: address is "x"/],
    [() => machine.readVirtual(0n, -1), /bytes is -1/],
    [() => machine.readVirtual(0n, 1, 1), /^hart 1: there are 0 to 0$/],
  ],
  'emulator.Machine.writeVirtual': [
    [() => machine.writeVirtual(undefined as Any, kernel), /^Machine\.writeVirtual: address is undefined/],
    [() => machine.writeVirtual(0n, [1] as Any), /data is an array/],
    [() => machine.writeVirtual(0n, kernel, 'x' as Any), /hart is "x"/],
  ],
  'emulator.Machine.registers': [[() => machine.registers('0' as Any), /^Machine: hart is "0"/]],
  'emulator.Machine.register': [
    [() => machine.register(10 as Any), /^Machine\.register: name is 10, expected a string$/],
    [() => machine.register('a99'), /no register a99$/],
    [() => machine.register('a0', -1), /hart is -1/],
  ],
  'emulator.Machine.setRegister': [
    [() => machine.setRegister('a0', 3 as Any), /^Machine\.setRegister: value is 3, expected a bigint/],
    [() => machine.setRegister('a99', 3n), /no register a99/],
  ],
  'emulator.Machine.snapshot': TAKES_NOTHING,
  'emulator.Machine.fork': [[() => machine.fork('x' as Any), /^Machine\.fork: onConsole is "x", expected a/]],
  'emulator.Machine.restore': [
    [() => machine.restore(undefined as Any), /^Machine\.restore: snapshot is undefined, expected a snapsh/],
    [() => machine.restore({ hash: '' } as Any), /snapshot is an object, expected a snapshot/],
  ],
  'emulator.Machine.stateHash': TAKES_NOTHING,
  'emulator.Machine.onKcov': [[() => machine.onKcov('x' as Any), /^Machine\.onKcov: listener is "x"/]],
  'emulator.Machine.recordTrace': [
    [() => machine.recordTrace('x' as Any), /^Machine\.recordTrace: options is "x"/],
    [() => machine.recordTrace({ name: 'x' } as Any), /options\.name does not exist; there are test/],
  ],

  'coverage.KcovboxError': NOT_CALLED,
  'coverage.readTrace': [
    [() => coverage.readTrace('x' as Any), /^readTrace: bytes is "x", expected the bytes of a \.kcov file/],
    [() => coverage.readTrace(new ArrayBuffer(4) as Any), /bytes is a value of type ArrayBuffer/],
    [() => coverage.readTrace(kernel, 5 as Any), /name is 5/],
  ],
  'coverage.mergeTraces': [
    [() => coverage.mergeTraces('x' as Any), /^mergeTraces: parts is "x", expected an array$/],
    [() => coverage.mergeTraces([trace] as Any), /parts\[0\]\.trace is undefined, expected a Trace|does not/],
    [() => coverage.mergeTraces([{ trace, name: 3 as Any }]), /parts\[0\]\.name is 3/],
  ],
  'coverage.measure': [
    [() => coverage.measure('x' as Any, image), /^measure: trace is "x", expected a Trace: readTrace makes/],
    [() => coverage.measure(undefined as Any, image), /trace is undefined/],
    [() => coverage.measure([kernel] as Any, image), /trace\[0\] is a value of type Uint8Array/],
    [() => coverage.measure(trace, 'a.elf' as Any), /image is "a\.elf", expected an Image: new Image/],
    [() => coverage.measure(trace, image, { file: 'x' } as Any), /select\.file does not exist; there are/],
    [() => coverage.measure(trace, image, { files: 'x' as Any }), /select\.files is "x", expected an array/],
    [() => coverage.measure(trace, image, { files: [''] }), /select\.files\[0\] is "", expected a pattern/],
    [() => coverage.measure(trace, image, { functions: '' }), /select\.functions is "", expected a pattern/],
  ],
  'coverage.measureInstructions': [
    [() => coverage.measureInstructions({} as Any, {} as Any), /^measureInstructions: image is an object/],
    [() => coverage.measureInstructions(image, undefined as Any), /counts is undefined, expected an object/],
    [() => coverage.measureInstructions(image, { low: 0n, counts: [] as Any }), /a BigUint64Array$/],
  ],
  'coverage.diffCoverage': [
    [() => coverage.diffCoverage({} as Any, measured), /^diffCoverage: a is an object, expected a Coverage/],
    [() => coverage.diffCoverage(measured, trace as Any), /b is an object, expected a Coverage/],
  ],
  'coverage.Image': [
    [() => new coverage.Image('a.elf' as Any), /^new Image: bytes is "a\.elf", expected the bytes of an ELF/],
    [() => new coverage.Image(kernel), /not an ELF file/],
  ],
  'coverage.Image.symbolize': [
    [() => image.symbolize(0x8000 as Any), /^Image\.symbolize: pc is 32768, expected a bigint/],
  ],
  'coverage.Trace': [
    [() => new (coverage.Trace as Any)(kernel), /^new Trace: the constructor is private; readTrace makes/],
  ],
  'coverage.Trace.records': TAKES_NOTHING,
  'coverage.Trace.bytes': TAKES_NOTHING,
  'coverage.Trace.filter': [
    [() => trace.filter(undefined as Any), /^Trace\.filter: filter is undefined/],
    [() => trace.filter({ tests: 'x' } as Any), /filter\.tests does not exist; there are kind, test/],
    [() => trace.filter({ kind: 'branch' as Any }), /filter\.kind is "branch", expected one of pc, cmp, ed/],
    [() => trace.filter({ thread: '1' as Any }), /filter\.thread is "1"/],
    [() => trace.filter({ places: { image: 'x', select: {} } as Any }), /filter\.places\.image is "x"/],
  ],
  'coverage.Coverage': [
    [() => new (coverage.Coverage as Any)(), /^new Coverage: the constructor is private; measure makes/],
  ],
  'coverage.Coverage.totals': TAKES_NOTHING,
  'coverage.Coverage.files': TAKES_NOTHING,
  'coverage.Coverage.functions': TAKES_NOTHING,
  'coverage.Coverage.tests': TAKES_NOTHING,
  'coverage.Coverage.file': [[() => measured.file(3 as Any), /^Coverage\.file: path is 3/]],
  'coverage.Coverage.export': [
    [() => measured.export('pdf' as Any), /^Coverage\.export: format is "pdf", expected one of kcov, raw/],
    [() => measured.export('html', { titel: 'x' } as Any), /options\.titel does not exist; there are title/],
    [() => measured.export('html', { title: '' }), /options\.title is "", expected a name: a string that/],
    [() => measured.export('drcov', { module: '' }), /options\.module is "", expected a name: a string/],
    [() => measured.export('csv', { table: 'x' as Any }), /options\.table is "x"/],
  ],
  'coverage.Coverage.exportChunks': [
    [() => measured.exportChunks(undefined as Any), /^Coverage\.export: format is undefined/],
  ],

  'node.KcovboxError': NOT_CALLED,
  'node.compile': [
    [() => node.compile(3 as Any), /^compile: source is 3, expected a path/],
    [
      () => node.compile('a.c', { dialekt: 'linux' } as Any),
      /options\.dialekt does not exist; there are dia/,
    ],
    [() => node.compile('a.c', { dialect: 'plan9' as Any }), /options\.dialect is "plan9", expected one of/],
    [() => node.compile('a.c', { cflags: '-O2' as Any }), /options\.cflags is "-O2", expected an array/],
  ],
  'node.buildKernel': [
    [() => node.buildKernel(undefined as Any), /^buildKernel: conf is undefined, expected the name of/],
    [
      () => node.buildKernel({ conf: 'linux' } as Any),
      /conf is an object, expected the name of a configuration, such as "linux" or "openbsd\+kasan"$/,
    ],
    [() => node.buildKernel('linux', { source: 3 as Any }), /options\.source is 3, expected a path/],
  ],
  'node.run': [
    [() => node.run(undefined as Any), /^run: program is undefined, expected a path/],
    [() => node.run('', {}), /program is "", expected a path/],
    [() => node.run('a\0.c'), /program is "a\\u0000\.c", expected a path/],
    [() => node.run('a.c', { arg: [] } as Any), /options\.arg does not exist; there are args, env/],
    [() => node.run('a.c', { args: 'x' as Any }), /options\.args is "x", expected an array$/],
    [() => node.run('a.c', { args: [3 as Any] }), /options\.args\[0\] is 3/],
    [() => node.run('a.c', { env: 'A=b' as Any }), /options\.env is "A=b", expected an object with/],
    [
      () => node.run('a.c', { env: new Map([['A', 'b']]) as Any }),
      /env is a value of type Map, expected an obj/,
    ],
    [() => node.run('a.c', { env: { '': 'c' } }), /options\.env is an object, expected names of letters/],
    [() => node.run('a.c', { env: { 'A=B': 'c' } }), /options\.env is an object, expected names of letters/],
    [() => node.run('a.c', { env: { 'A\0': 'c' } }), /options\.env is an object, expected names of letters/],
    [
      () => node.run('a.c', { args: ['\ud800'] }),
      /options\.args\[0\] is "\\ud800", expected a string of Unicode/,
    ],
    [() => node.run('a\udc00.c'), /program is "a\\udc00\.c", expected a path/],
    [
      () => node.run('a.c', { testName: '' }),
      /options\.testName is "", expected a name: a string that is not/,
    ],
    [() => node.run('a.c', { env: { 'A B': 'c' } }), /options\.env is an object, expected names of letters/],
    [
      () => node.run('a.c', { env: { A: 'b\0' } }),
      /options\.env\.A is "b\\u0000", expected a string of Unicode/,
    ],
    [() => node.run('a.c', { input: 3 as Any }), /options\.input is 3, expected text, a Uint8Array, or an/],
    [() => node.run('a.c', { harts: '2' as Any }), /options\.harts is "2", expected a whole number from 1/],
    [() => node.run('a.c', { memory: 5 }), /options\.memory is 5, expected bytes: a whole number of MiB/],
    [() => node.run('a.c', { seed: -1n }), /options\.seed is -1n, expected a bigint from 0n to 2n/],
    [() => node.run('a.c', { schedSeed: 2n ** 64n }), /options\.schedSeed is 18446744073709551616n/],
    [() => node.run('a.c', { maxInsns: 0 }), /options\.maxInsns is 0, expected a whole number from 1 on$/],
    [() => node.run('a.c', { onOutput: true as Any }), /options\.onOutput is true, expected a function$/],
    [() => node.run('a.c', { signal: {} as Any }), /options\.signal is an object, expected an AbortSignal$/],
    [() => node.run('a.c', { conf: 'solaris' }), /conf solaris is not a configuration of/],
    [() => node.run('nothing-here.c'), /^program nothing-here\.c: no such file$/],
  ],
  'node.replay': [
    [() => node.replay('a.kcapsule' as Any), /^replay: capsule is "a\.kcapsule", expected the bytes of a c/],
    [() => node.replay(undefined as Any), /capsule is undefined/],
    [() => node.replay(kernel, { maxInsns: 5 } as Any), /options\.maxInsns does not exist; there are engine/],
    [() => node.replay(kernel, { files: 'x' as Any }), /options\.files is "x", expected an array$/],
    [() => node.replay(kernel), /^the argument capsule is not a capsule; make one with --record$/],
  ],
  'node.why': [
    [() => node.why('a.kcapsule' as Any), /^why: capsule is "a\.kcapsule", expected the bytes of a c/],
    [() => node.why(kernel, { maxInsns: 5 } as Any), /options\.maxInsns does not exist; there are failure/],
    [() => node.why(kernel, { failure: { console: 'x' } as Any }), /options\.failure is an object, expected/],
    [() => node.why(kernel, { failure: { status: 256 } }), /options\.failure is an object, expected/],
    [() => node.why(kernel, { forks: 4 }), /options\.forks is 4, expected a whole number from 5 to 100000$/],
    [() => node.why(kernel, { spread: 0.5 }), /options\.spread is 0\.5/],
    [() => node.why(kernel, { seed: 1 as Any }), /options\.seed is 1, expected a bigint/],
    [() => node.why(kernel, { seed: -1n }), /options\.seed is -1n, expected a bigint from 0n/],
    [() => node.why(kernel, { engine: 'lockstep' as Any }), /options\.engine is "lockstep"/],
    [() => node.why(kernel), /^the argument capsule is not a capsule; make one with --record$/],
  ],
  'node.Run': [
    [() => new (node.Run as Any)(), /^new Run: the constructor is private; run and replay make one$/],
  ],
  'node.Run.result': TAKES_NOTHING,
  'node.Run.capsule': TAKES_NOTHING,
  'node.Run.coverage': [
    [() => bare(node.Run).coverage({ file: 'x' } as Any), /^Run\.coverage: select\.file does not exist/],
  ],

  'node.kernelDescriptions': [
    [
      () => node.kernelDescriptions('a.kd' as Any),
      /^kernelDescriptions: describe is "a\.kd", expected an arr/,
    ],
    [() => node.kernelDescriptions(['nothing-here.kd']), /^description nothing-here\.kd: no such file$/],
  ],
  'node.fuzzTarget': [
    [() => node.fuzzTarget('linux' as Any), /^fuzzTarget: options is "linux", expected an object$/],
    [
      () => node.fuzzTarget({ dialect: 'linux' } as Any),
      /options\.dialect does not exist; there are conf, ker/,
    ],
    [() => node.fuzzTarget({ conf: 'openbsd' }), /options\.conf is "openbsd", expected the name of a config/],
    [() => node.fuzzTarget({ conf: 3 as Any }), /options\.conf is 3, expected the name of a configuration w/],
    [
      () => node.fuzzTarget({ conf: 'linux+nothing' }),
      /^no kernel configuration "linux\+nothing"; there are bugs, /,
    ],
    [() => node.fuzzTarget({ append: 'a\0' }), /options\.append is "a\\u0000", expected a string of Unicode/],
    [() => node.fuzzTarget({ describe: 'a.kd' as Any }), /options\.describe is "a\.kd", expected an array$/],
    [
      () => node.fuzzTarget({ describe: ['nothing-here.kd'] }),
      /^description nothing-here\.kd: no such file$/,
    ],
    [() => node.fuzzTarget({ threads: 2 as Any }), /options\.threads is 2, expected true or false$/],
    [() => node.fuzzTarget({ faultable: ['uart' as Any] }), /faultable\[0\] is "uart", expected one of edu$/],
    [
      () => node.fuzzTarget({ engine: 'lockstep' as Any }),
      /options\.engine is "lockstep", expected one of ji/,
    ],
  ],
  'fuzz.KcovboxError': NOT_CALLED,
  'fuzz.parseDescriptions': [
    [
      () => fuzz.parseDescriptions('call x()' as Any, ''),
      /^parseDescriptions: files is "call x\(\)", expected/,
    ],
    [
      () => fuzz.parseDescriptions([{ name: 'a' } as Any], ''),
      /files\[0\]\.text is undefined, expected a str/,
    ],
    [
      () => fuzz.parseDescriptions([], 3 as Any),
      /syscalls is 3, expected the text of a table of system calls/,
    ],
    [() => fuzz.parseDescriptions([{ name: 'a.kd', text: '\nthing' }], ''), /^a\.kd:2: "thing" begins no/],
    [
      () => fuzz.parseDescriptions([], 'SYSCALL(1, a, 1)\nSYSCALL(2, a, 1)'),
      /^system call a stands in two tables/,
    ],
  ],
  'fuzz.FuzzTarget': [
    [() => new (fuzz.FuzzTarget as Any)(), /^new FuzzTarget: the constructor is private; openFuzzTarget ma/],
  ],
  'fuzz.FuzzTarget.execute': [
    [() => target.execute('close(0x5)' as Any), /^FuzzTarget\.execute: program is "close\(0x5\)", expected/],
    [
      () => target.execute(closing, { record: 'both' as Any }),
      /options\.record is "both", expected one of p/,
    ],
    [() => target.execute(closing, { settle: 1 as Any }), /options\.settle is 1, expected true or false$/],
  ],
  'fuzz.FuzzTarget.trace': [
    [() => target.trace(closing as Any), /^FuzzTarget\.trace: programs is an object, expected an array$/],
    [() => target.trace([bare(fuzz.Program)]), /programs\[0\] is an object, expected a Program: Descri/],
    [() => target.trace([3 as Any]), /programs\[0\] is 3, expected a Program: Descriptions\.program and/],
  ],
  'fuzz.FuzzTarget.campaign': [
    [
      () => target.campaign({} as Any),
      /^FuzzTarget\.campaign: options\.executions is undefined, expected a wh/,
    ],
    [
      () => target.campaign({ executions: 0 }),
      /options\.executions is 0, expected a whole number from 1 on$/,
    ],
    [() => target.campaign({ executions: 1, seed: -1n }), /options\.seed is -1n, expected a bigint from 0n/],
    [
      () => target.campaign({ executions: 1, calls: ['?'] }),
      /options\.calls\[0\] is "\?", expected the name of a call/,
    ],
    [
      () => target.campaign({ executions: 1, calls: [] }),
      /options\.calls is an array, expected at least one$/,
    ],
    [
      () => target.campaign({ executions: 1, schedule: 'all' }),
      /schedule is "all", expected turns, rw, rp, pos or pct:/,
    ],
    [() => target.campaign({ executions: 1, faults: [] }), /options\.faults is an array, expected at least/],
    [() => target.campaign({ executions: 1, faults: ['edu:no'] }), /FuzzTarget\.campaign: faults\.0: /],
    [
      () => target.campaign({ executions: 1, signal: {} as Any }),
      /options\.signal is an object, expected an A/,
    ],
  ],
  'fuzz.openFuzzTarget': [
    [() => fuzz.openFuzzTarget('linux' as Any), /^openFuzzTarget: images is "linux", expected an object$/],
    [opening({ kernel: 'k' }), /images\.kernel is "k", expected the bytes of/],
    [opening({ hart: 2 }), /images\.hart does not exist; there are conf, ker/],
    [opening({ faultable: ['uart'] }), /faultable\[0\] is "uart", expected/],
    [opening({ files: [{}] }), /images\.files\[0\]\.name is undefined, exp/],
    [opening({ append: 'a\0' }), /images\.append is "a\\u0000", expected a string of/],
    [opening({ tail: 'a'.repeat(65_537) }), /images\.tail is "a+\.\.\.", expected a/],
    [opening({}, { engine: 'lockstep' }), /options\.engine is "lockstep", expected/],
    [opening({ files: [{ name: 'a', text: 'b' }] }), /^a:1: "b" begins no declara/],
    [opening({}), /^kernel: is not an elf file$/],
  ],

  'fuzz.Descriptions': [
    [() => new (fuzz.Descriptions as Any)(), /^new Descriptions: the constructor is private; parseDescr/],
  ],
  'fuzz.Descriptions.call': [
    [() => described.call(57 as Any), /^Descriptions\.call: name is 57, expected a/],
  ],
  'fuzz.Descriptions.program': [
    [
      () => described.program(closing as Any),
      /^Descriptions\.program: text is an object, expected a string$/,
    ],
    [() => described.program('close(0x5)', 3 as Any), /name is 3, expected a string$/],
    [() => described.program('\nopen()', 'a.txt'), /^a\.txt:2: no call "open" is described/],
  ],
  'fuzz.Descriptions.generator': [
    [() => described.generator({ seed: 1 as Any }), /^Descriptions\.generator: options\.seed is 1, expected/],
    [() => described.generator({ sed: 1n } as Any), /options\.sed does not exist; there are seed, calls, d/],
    [() => described.generator({ calls: 'close' as Any }), /options\.calls is "close", expected an array$/],
    [() => described.generator({ calls: [] }), /options\.calls is an array, expected at least one$/],
    [() => described.generator({ calls: ['open*'] }), /^no call matches "open\*"$/],
    [() => described.generator({ dictionary: [5 as Any] }), /options\.dictionary\[0\] is 5, expected a bigi/],
  ],
  'fuzz.ProgramGenerator': [
    [() => new (fuzz.ProgramGenerator as Any)(), /^new ProgramGenerator: the constructor is private; Desc/],
  ],
  'fuzz.ProgramGenerator.program': TAKES_NOTHING,
  'fuzz.ProgramGenerator.mutate': [
    [() => generator.mutate(bare(fuzz.Program)), /program is an object, expected a Program: Descriptions/],
    [() => generator.mutate(new Proxy(closing, {})), /program is an object, expected a Program: Descripti/],
    [() => generator.mutate('close(0x5)' as Any), /^ProgramGenerator\.mutate: program is "close\(0x5\)", e/],
    [() => generator.mutate(closing, closing as Any), /others is an object, expected an array$/],
    [() => generator.mutate(others.program('close(0x5)')), /expected a program of the same descriptions; De/],
    [
      () => generator.mutate(closing, [others.program('close(0x5)')]),
      /others\[0\] is an object, expected a program of the same/,
    ],
  ],
  'fuzz.Program': [
    [() => new (fuzz.Program as Any)(), /^new Program: the constructor is private; Descriptions\.program an/],
  ],
  'fuzz.Program.c': TAKES_NOTHING,
  'fuzz.Program.without': [
    [() => closing.without(1), /^Program\.without: index is 1, expected a whole number from 0 to 0$/],
    [() => closing.without(-1), /index is -1/],
    [() => described.program('').without(0), /^Program\.without: the program has no calls$/],
  ],
  'fuzz.Program.minimize': [
    [() => closing.minimize(true as Any), /^Program\.minimize: shows is true, expected a function$/],
  ],

  'device.KcovboxError': NOT_CALLED,
  // It only gives types; the machine and the bench refuse what cannot be a device.
  'device.defineDevice': [
    [() => device.defineDevice('x' as Any), /^the device is not an object$/],
    [() => device.defineDevice(undefined as Any), /^the device is not an object$/],
    [() => device.defineDevice({} as Any), /^device: name is not a lower-case C identifier$/],
    [() => device.defineDevice(definition({ name: 5 })), /^device: name is not a lower-case C identifier$/],
    [() => device.defineDevice(definition({ compatible: '' })), /^device d: compatible is not a word/],
    [() => device.defineDevice(definition({ registers: [] })), /^device d: registers is an array, expected/],
    [
      () => device.defineDevice(definition({ registers: new Map() })),
      /registers is a value of type Map, exp/,
    ],
    [
      () => device.defineDevice(definition({ onRead: { x: () => 1 } })),
      /^device d: onRead\.x is of no regis/,
    ],
    [() => device.defineDevice(definition({ state: { f: () => 1 } })), /^device d: state\.f is a function$/],
    [() => device.defineDevice(definition({ size: 5 })), /^device d: size 5 is not a power of two/],
  ],
  'device.DeviceBench': [
    [() => new device.DeviceBench(undefined as Any), /^the device is not an object$/],
    [() => new device.DeviceBench({} as Any), /name is not a lower-case C identifier$/],
    [
      () => new device.DeviceBench(definition({ onWrit: {} })),
      /^device d: onWrit does not exist; there are n/,
    ],
    [() => new device.DeviceBench(definition({ doc: 3 })), /^device d: doc is 3, expected a string$/],
    [() => new device.DeviceBench(definition({ registers: 5 })), /^device d: registers is 5, expected an ob/],
    [() => new device.DeviceBench(definition({ registers: { r: 5 } })), /registers\.r is 5, expected an obj/],
    [() => new device.DeviceBench(definition({ onRead: { r: 5 } })), /onRead\.r is 5, expected a function$/],
    [
      () => new device.DeviceBench(definition(), { parms: {} } as Any),
      /^new DeviceBench: options\.parms doe/,
    ],
    [() => new device.DeviceBench(definition(), { seed: 3 as Any }), /options\.seed is 3/],
  ],
  'device.DeviceBench.read': [
    [() => bench.read('0' as Any), /^DeviceBench\.read: offset is "0"/],
    [() => bench.read(0, 3), /bytes is 3, expected one of 1, 2, 4, 8$/],
  ],
  'device.DeviceBench.peek': [[() => bench.peek(-4), /^DeviceBench\.peek: offset is -4/]],
  'device.DeviceBench.write': [
    [() => bench.write(0, '5' as Any), /^DeviceBench\.write: value is "5", expected a number$/],
    [() => bench.write(0, 5n as Any), /^DeviceBench\.write: value is 5n, expected a number$/],
    [() => bench.write(0, 0.5, 8), /value is 0\.5, expected a whole number or a bigint$/],
    [() => bench.write(0, 5, 16), /bytes is 16/],
  ],
  'device.DeviceBench.advance': [
    [() => bench.advance(Number.NaN), /^DeviceBench\.advance: ns is NaN, expected nanoseconds/],
    [() => bench.advance(-1), /ns is -1/],
  ],
  'device.DeviceBench.save': TAKES_NOTHING,
  'device.DeviceBench.load': [[() => bench.load({}), /^DeviceBench\.load: saved is an object, expected/]],
};

const isClass = (value: unknown): value is { readonly prototype: object } =>
  typeof value === 'function' && /^class\b/.test(Function.prototype.toString.call(value));

/** Functions, classes and methods that the entries export. */
function* callable(): Generator<string> {
  for (const [entry, exports] of Object.entries(ENTRIES))
    for (const [name, value] of Object.entries(exports)) {
      if (typeof value === 'function') yield `${entry}.${name}`;
      if (!isClass(value)) continue;
      for (const [method, { value: body }] of Object.entries(
        Object.getOwnPropertyDescriptors(value.prototype),
      ))
        if (typeof body === 'function' && method !== 'constructor') yield `${entry}.${name}.${method}`;
    }
}

test('every export has its rows', () => {
  expect([...callable()].sort()).toEqual(Object.keys(ROWS).sort());
});

describe.each(Object.entries(ROWS).filter(([, rows]) => rows.length > 0))('%s', (_, rows) => {
  test.each(rows.map(([call, message]) => [message, call] as const))('%s', async (message, call) => {
    const error: unknown = await Promise.resolve()
      .then(call)
      .then(
        () => 'nothing was refused',
        (reason: unknown) => reason,
      );
    expect(error).toBeInstanceOf(emulator.KcovboxError);
    expect((error as Error).message).toMatch(message);
    expect((error as Error).message).toMatch(/^\P{Cc}+$/u);
  });
});
