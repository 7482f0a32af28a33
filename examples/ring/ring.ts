// A DMA ring with interrupt moderation: the driver fills descriptors in memory, the device adds up
// the bytes that each of them names, and interrupts after a number of completions or after a time.
import { defineDevice } from 'kcovbox/device';

const ENABLE = 1;
const PENDING = 1;
/** Words of a descriptor: address (two), bytes, flags, sum, and three that nobody uses. */
const DESCRIPTOR = 32;
const OWNED = 1;
const DONE = 2;
const SLOTS = 16;

export default defineDevice({
  name: 'ring',
  compatible: 'example,ring',
  doc: 'Adds up the bytes of buffers that a ring of 16 descriptors names.',
  params: { nsPerByte: 10, after: 4, within: 50_000 },
  registers: {
    id: { at: 0x00, access: 'r', reset: 0x72696e67, doc: 'always 0x72696e67' },
    base: { at: 0x08, bytes: 8, access: 'rw', doc: 'physical address of the descriptors' },
    control: {
      at: 0x10,
      access: 'rw',
      doc: 'off: the device forgets all descriptors',
      fields: { enable: { bits: 0, doc: 'the ring may be read' } },
    },
    tail: { at: 0x14, access: 'rw', doc: 'index behind the last descriptor that is ready' },
    head: { at: 0x18, access: 'r', doc: 'index of the next descriptor that the device takes' },
    cause: {
      at: 0x1c,
      access: 'rw',
      w1c: PENDING,
      doc: 'an interrupt is pending while this is not 0',
      fields: { completed: { bits: 0, doc: 'descriptors were completed; write 1 to clear' } },
    },
    moderation: { at: 0x20, access: 'rw', reset: 4, doc: 'interrupt after so many completions' },
  },
  state: { completed: 0 },
  rules: {
    'tail-while-off': {
      doc: 'descriptors are handed over while the ring is off',
      write: { tail: dev => !(dev.reg.control & ENABLE) },
    },
    'base-while-on': {
      doc: 'the ring is moved while it is on',
      write: { base: dev => (dev.reg.control & ENABLE) !== 0 },
    },
    'dma-to-freed-memory': {
      doc: 'the ring or a buffer is in memory that the kernel has freed',
      dma: (_, { isFreed }) => isFreed,
    },
  },
  onReset(dev) {
    dev.reg.moderation = dev.param.after;
  },
  onWrite: {
    control(dev, value) {
      if (value & ENABLE) return;
      dev.reg.head = dev.reg.tail = 0;
      dev.state.completed = 0;
      dev.clock.cancel('next');
      dev.clock.cancel('tell');
    },
    tail(dev, value) {
      dev.reg.tail = value % SLOTS;
      dev.clock.after('next', 100);
    },
    cause(dev) {
      dev.irq.set(dev.reg.cause !== 0);
    },
  },
  onAlarm: {
    next(dev) {
      if (!(dev.reg.control & ENABLE) || dev.reg.head === dev.reg.tail) return;
      const at = dev.reg.base + DESCRIPTOR * dev.reg.head;
      const d = dev.dma.read(at, DESCRIPTOR);
      const word = (n: number) =>
        d ? d[n]! + d[n + 1]! * 2 ** 8 + d[n + 2]! * 2 ** 16 + d[n + 3]! * 2 ** 24 : 0;
      if (!(word(12) & OWNED)) return;
      const bytes = dev.dma.read(word(0) + word(4) * 2 ** 32, Math.min(word(8), 4096)) ?? [];
      let sum = 0;
      for (const byte of bytes) sum = (sum + byte) >>> 0;
      const le = (value: number) => [value, value >>> 8, value >>> 16, value >>> 24].map(b => b & 255);
      dev.dma.write(at + 12, [...le(DONE), ...le(sum)]);
      dev.reg.head = (dev.reg.head + 1) % SLOTS;
      dev.state.completed++;
      if (dev.state.completed >= dev.reg.moderation) dev.clock.after('tell', 1);
      else if (dev.state.completed === 1) dev.clock.after('tell', dev.param.within);
      dev.clock.after('next', 1 + bytes.length * dev.param.nsPerByte);
    },
    tell(dev) {
      dev.state.completed = 0;
      dev.reg.cause |= PENDING;
      dev.irq.raise();
    },
  },
});
