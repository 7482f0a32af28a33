// The mixer: a device that computes a hash of bytes in memory. The text has its register page.
import { defineDevice } from 'kcovbox/device';

const BUSY = 1;
const DONE = 2;
const FAILED = 4;
const MOST = 4096;

function fnv1a(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

export default defineDevice({
  name: 'mixer',
  compatible: 'lab,mixer',
  doc: 'Computes FNV-1a over bytes in memory.',
  registers: {
    id: { at: 0x00, access: 'r', reset: 0x6d697831, doc: 'always 0x6d697831' },
    address: { at: 0x08, bytes: 8, access: 'rw', doc: 'physical address of the bytes' },
    count: { at: 0x10, access: 'rw', doc: 'how many there are; writing it starts the work' },
    status: {
      at: 0x14,
      access: 'rw',
      w1c: DONE | FAILED,
      doc: 'an interrupt is pending while done or failed is set',
    },
    result: { at: 0x18, access: 'r', doc: 'the hash' },
  },
  state: { address: 0, count: 0 },
  onWrite: {
    count(dev, value) {
      if (dev.reg.status & BUSY) return;
      dev.state.address = dev.reg.address;
      dev.state.count = value;
      dev.reg.status |= BUSY;
      dev.clock.after('finish', 20_000);
    },
    status(dev) {
      dev.irq.set((dev.reg.status & (DONE | FAILED)) !== 0);
    },
  },
  onAlarm: {
    finish(dev) {
      const { address, count } = dev.state;
      const isAllowed = count >= 1 && count <= MOST;
      const bytes = isAllowed ? dev.dma.read(address, count) : undefined;
      if (bytes) dev.reg.result = fnv1a(bytes);
      dev.reg.status = (dev.reg.status & ~BUSY) | (bytes ? DONE : FAILED);
      dev.irq.raise();
    },
  },
});
