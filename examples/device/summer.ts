// A device of one's own: it adds up numbers in memory. The driver tells it where they are, and some
// time later an interrupt says that the sum is there.
//
//     kcovbox run --device summer.ts,latency=5000 --driver summer.c use.c -- 1 2 3
import { defineDevice } from 'kcovbox/device';

const BUSY = 1;
const DONE = 2;
const FAILED = 4;

export default defineDevice({
  name: 'summer',
  compatible: 'example,summer',
  doc: 'Adds up 32-bit numbers in memory.',
  params: { latency: 2_000, most: 1_024 },
  registers: {
    id: { at: 0x00, access: 'r', reset: 0x73756d31, doc: 'always 0x73756d31' },
    address: { at: 0x08, bytes: 8, access: 'rw', doc: 'physical address of the numbers' },
    count: { at: 0x10, access: 'rw', doc: 'how many there are; writing it starts the work' },
    status: {
      at: 0x14,
      access: 'rw',
      w1c: DONE | FAILED,
      doc: 'an interrupt is pending while done or failed is set',
      fields: {
        busy: { bits: 0, doc: 'the device works; commands are ignored' },
        done: { bits: 1, doc: 'the sum is there; write 1 to clear' },
        failed: { bits: 2, doc: 'the numbers are not in memory, or too many; write 1 to clear' },
      },
    },
    sum: { at: 0x18, access: 'r', doc: 'the sum modulo 2^32' },
  },
  state: { address: 0, count: 0 },
  rules: {
    'command-while-busy': {
      doc: 'a count is written while the device is busy',
      write: { count: dev => (dev.reg.status & BUSY) !== 0 },
    },
    'acknowledge-without-cause': {
      doc: 'done or failed is cleared while it is not set',
      write: { status: (dev, value) => (value & (DONE | FAILED) & ~dev.reg.status) !== 0 },
    },
    'dma-to-freed-memory': {
      doc: 'the numbers are in memory that the kernel has freed',
      dma: (_, { isFreed }) => isFreed,
    },
  },
  onWrite: {
    count(dev, value) {
      if (dev.reg.status & BUSY) return;
      dev.state.address = dev.reg.address;
      dev.state.count = value;
      dev.reg.status |= BUSY;
      dev.clock.after('finish', dev.param.latency);
    },
    status(dev) {
      dev.irq.set((dev.reg.status & (DONE | FAILED)) !== 0);
    },
  },
  onAlarm: {
    finish(dev) {
      const { address, count } = dev.state;
      const bytes = count <= dev.param.most ? dev.dma.read(address, 4 * count) : undefined;
      let sum = 0;
      for (let i = 0; bytes && i < bytes.length; i += 4)
        sum += bytes[i]! + bytes[i + 1]! * 2 ** 8 + bytes[i + 2]! * 2 ** 16 + bytes[i + 3]! * 2 ** 24;
      dev.reg.sum = sum;
      dev.reg.status = (dev.reg.status & ~BUSY) | (bytes ? DONE : FAILED);
      dev.log(`${count} numbers, sum ${sum}`);
      dev.irq.raise();
    },
  },
});
