// A bare-metal bench image on libunicorn: node unicorn-host.mjs FILE. RAM, a UART that prints and a
// finisher that ends; nothing else. Exit status 77: it is not installed here, and the reason is
// printed.
import { readdirSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const PLACES = [
  '/usr/lib/x86_64-linux-gnu',
  '/usr/lib/aarch64-linux-gnu',
  '/usr/lib64',
  '/usr/local/lib',
  '/usr/lib',
];
const [ARCH_RISCV, MODE_RISCV64, PROT_ALL] = [8, 8, 7];
const [RAM, RAM_BYTES, UART, FINISHER] = [0x8000_0000, 128 << 20, 0x1000_0000, 0x10_0000];

function cannot(why) {
  writeSync(2, `${why}\n`);
  process.exit(77);
}

const { default: koffi } = await import('koffi').catch(() =>
  cannot('the npm package koffi is not installed'),
);
const files = PLACES.flatMap(place => {
  try {
    return readdirSync(place)
      .filter(name => name.startsWith('libunicorn.so'))
      .map(name => join(place, name));
  } catch {
    return []; // no such directory
  }
});
if (files.length === 0) cannot('libunicorn is not installed (Debian: apt install libunicorn2)');
const library = koffi.load(files.sort().at(-1));
const open = library.func('int uc_open(int arch, int mode, _Out_ void **engine)');
const map = library.func(
  'int uc_mem_map(void *engine, uint64_t address, uint64_t size, uint32_t protection)',
);
const write = library.func(
  'int uc_mem_write(void *engine, uint64_t address, const uint8_t *bytes, uint64_t size)',
);
const start = library.func(
  'int uc_emu_start(void *engine, uint64_t begin, uint64_t until, uint64_t timeout, uint64_t count)',
);
const errorText = library.func('const char *uc_strerror(int code)');
const onRead = koffi.proto('uint64_t onRead(void *engine, uint64_t offset, uint32_t size, void *user)');
const onWrite = koffi.proto(
  'void onWrite(void *engine, uint64_t offset, uint32_t size, uint64_t value, void *user)',
);
const mmio = library.func('uc_mmio_map', 'int', [
  ...['void *', 'uint64_t', 'uint64_t', koffi.pointer(onRead), 'void *', koffi.pointer(onWrite), 'void *'],
]);

function check(what, code) {
  if (code === 0) return;
  writeSync(2, `unicorn: ${what}: ${errorText(code)}\n`);
  process.exit(1);
}

const out = [null];
check('open', open(ARCH_RISCV, MODE_RISCV64, out));
const [engine] = out;
check('map RAM', map(engine, RAM, RAM_BYTES, PROT_ALL));
const device = (base, store) =>
  check(
    'map a device',
    mmio(
      ...[engine, base, 4096, koffi.register(() => 0, koffi.pointer(onRead)), null],
      ...[
        koffi.register((_engine, _offset, _size, value) => store(Number(value)), koffi.pointer(onWrite)),
        null,
      ],
    ),
  );
device(UART, byte => writeSync(1, String.fromCharCode(byte)));
device(FINISHER, value => process.exit(value === 0x5555 ? 0 : 1));

const elf = readFileSync(process.argv[2]);
const [headers, size, count] = [Number(elf.readBigUInt64LE(32)), elf.readUInt16LE(54), elf.readUInt16LE(56)];
for (let i = 0; i < count; i++) {
  const at = headers + i * size;
  const [offset, , address, bytes] = [8, 16, 24, 32].map(field => Number(elf.readBigUInt64LE(at + field)));
  if (elf.readUInt32LE(at) === 1 && bytes > 0)
    check('load', write(engine, address, elf.subarray(offset, offset + bytes), bytes));
}
check('run', start(engine, elf.readBigUInt64LE(24), 0xffff_ffff_ffff_fffen, 0, 0));
