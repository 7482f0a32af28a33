// A disk that completes requests out of order: eight of them may be in flight, each ends at a time
// of its own. Written blocks are in a volatile cache until a flush, which covers the writes that
// are complete when it ends. `cut` is a power failure, for tests of drivers.
import { type DeviceContext, defineDevice } from 'kcovbox/device';

const ENABLE = 1;
const TAGS = 8;
const BLOCK = 512;
/** Bytes of a request: address (8), block, command, status, and three words that nobody uses. */
const REQUEST = 32;
const STATUS = 16;
const READ = 1;
const WRITE = 2;
const FLUSH = 3;
/** A command that fails. */
const LOST = -1;
const OK = 1;
const FAILED = 2;

type Blocks = { [block: string]: number[] };
/** By tag: address, block, command; command 0: no request. */
type Requests = [number, number, number][];
type Context = DeviceContext<
  'control' | 'requests' | 'done',
  { blocks: number; latency: number; spread: number; flush: number },
  { requests: Requests; cache: Blocks; medium: Blocks }
>;

const noRequests = (): Requests => Array.from({ length: TAGS }, () => [0, 0, 0]);

const word = (bytes: Uint8Array, at: number): number =>
  bytes[at]! + bytes[at + 1]! * 2 ** 8 + bytes[at + 2]! * 2 ** 16 + bytes[at + 3]! * 2 ** 24;

/** The work of a request; false when it fails. */
function serve(dev: Context, [address, block, command]: Requests[number]): boolean {
  const { state, param, dma } = dev;
  if (command === FLUSH) {
    state.medium = { ...state.medium, ...state.cache };
    state.cache = {};
    return true;
  }
  if (block >= param.blocks) return false;
  if (command === READ) {
    const bytes = state.cache[block] ?? state.medium[block] ?? new Array<number>(BLOCK).fill(0);
    return dma.write(address, bytes);
  }
  const bytes = command === WRITE ? dma.read(address, BLOCK) : undefined;
  if (bytes) state.cache[block] = Array.from(bytes);
  return bytes !== undefined;
}

function finish(dev: Context, tag: number): void {
  const request = dev.state.requests[tag]!;
  dev.state.requests[tag] = [0, 0, 0];
  const status = serve(dev, request) ? OK : FAILED;
  dev.dma.write(dev.reg.requests + REQUEST * tag + STATUS, [status, 0, 0, 0]);
  dev.reg.done |= 1 << tag;
  dev.irq.raise();
}

export default defineDevice({
  name: 'disk',
  compatible: 'example,disk',
  doc: 'A disk with a volatile cache and a queue of eight requests, which it completes in any order.',
  params: { blocks: 16, latency: 2_000, spread: 8_000, flush: 50_000 },
  registers: {
    id: { at: 0x00, access: 'r', reset: 0x6469736b, doc: 'always 0x6469736b' },
    blocks: { at: 0x04, access: 'r', doc: 'size, in blocks of 512 bytes' },
    requests: { at: 0x08, bytes: 8, access: 'rw', doc: 'physical address of the eight requests' },
    control: {
      at: 0x10,
      access: 'rw',
      doc: 'off: the device forgets the requests in flight',
      fields: { enable: { bits: 0, doc: 'requests may be submitted' } },
    },
    submit: { at: 0x14, access: 'w', doc: 'index of a request that is ready; the device owns it' },
    done: {
      at: 0x18,
      access: 'rw',
      w1c: 0xff,
      doc: 'bit n: request n has its status; an interrupt is pending while this is not 0; write 1 to clear',
    },
    cut: {
      at: 0x1c,
      access: 'w',
      doc: 'any write: a power failure; the cache is lost, requests in flight fail',
    },
  },
  state: { requests: noRequests(), cache: {} as Blocks, medium: {} as Blocks },
  rules: {
    'request-in-flight': {
      doc: 'a request is submitted again before it is complete',
      write: { submit: (dev, tag) => (dev.state.requests[tag]?.[2] ?? 0) !== 0 },
    },
    'requests-moved': {
      doc: 'the requests are moved while the device is enabled',
      write: { requests: dev => (dev.reg.control & ENABLE) !== 0 },
    },
    'dma-to-freed-memory': {
      doc: 'the requests or a buffer are in memory that the kernel has freed',
      dma: (_, { isFreed }) => isFreed,
    },
  },
  onReset(dev) {
    dev.reg.blocks = dev.param.blocks;
  },
  onWrite: {
    control(dev, value) {
      if (value & ENABLE) return;
      for (let tag = 0; tag < TAGS; tag++) dev.clock.cancel(`tag${tag}`);
      dev.state.requests = noRequests();
    },
    submit(dev, tag) {
      if (!(dev.reg.control & ENABLE) || tag >= TAGS || dev.state.requests[tag]![2]) return;
      const bytes = dev.dma.read(dev.reg.requests + REQUEST * tag, REQUEST);
      if (!bytes) return;
      const command = word(bytes, 12);
      dev.state.requests[tag] = [word(bytes, 0) + word(bytes, 4) * 2 ** 32, word(bytes, 8), command || LOST];
      const { latency, spread, flush } = dev.param;
      dev.clock.after(`tag${tag}`, command === FLUSH ? flush : latency + (dev.random() % (spread + 1)));
    },
    done(dev) {
      dev.irq.set(dev.reg.done !== 0);
    },
    cut(dev) {
      dev.state.cache = {};
      for (const request of dev.state.requests) if (request[2]) request[2] = LOST;
    },
  },
  onAlarm: {
    tag0: dev => finish(dev, 0),
    tag1: dev => finish(dev, 1),
    tag2: dev => finish(dev, 2),
    tag3: dev => finish(dev, 3),
    tag4: dev => finish(dev, 4),
    tag5: dev => finish(dev, 5),
    tag6: dev => finish(dev, 6),
    tag7: dev => finish(dev, 7),
  },
});
