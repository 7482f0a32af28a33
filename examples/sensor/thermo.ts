// A serial bus controller with a temperature sensor on it, and the sensor's alert pin: the driver
// starts a transaction and is told by an interrupt when its bytes are there.
import { defineDevice } from 'kcovbox/device';

const BUSY = 1;
const DONE = 2;
const NACK = 4;
const SENSOR = 0x48;
const LENGTH = 2;

export default defineDevice({
  name: 'thermo',
  compatible: 'example,thermo',
  doc: 'A two-wire bus with a temperature sensor at address 0x48.',
  params: { centidegrees: 2_350, latency: 20_000 },
  registers: {
    id: { at: 0x00, access: 'r', reset: 0x74776931, doc: 'always 0x74776931' },
    target: { at: 0x04, access: 'rw', doc: 'address on the bus, 7 bits' },
    start: { at: 0x08, access: 'w', doc: 'any value reads the target' },
    status: {
      at: 0x0c,
      access: 'rw',
      w1c: DONE | NACK,
      doc: 'an interrupt is pending while done or nack is set',
      fields: {
        busy: { bits: 0, doc: 'a transaction runs' },
        done: { bits: 1, doc: 'the bytes are there; write 1 to clear' },
        nack: { bits: 2, doc: 'nothing has this address; write 1 to clear' },
      },
    },
    length: { at: 0x10, access: 'r', doc: 'bytes that were received' },
    data: { at: 0x14, access: 'r', doc: 'the bytes, the first one in the low bits' },
    limit: { at: 0x18, access: 'rw', reset: 0x7fff, doc: 'the alert pin is high above this' },
    pins: { at: 0x1c, access: 'r', doc: 'levels', fields: { alert: { bits: 0, doc: 'too hot' } } },
  },
  rules: {
    'start-while-busy': {
      doc: 'a transaction is started while another one runs',
      write: { start: dev => (dev.reg.status & BUSY) !== 0 },
    },
    'acknowledge-without-cause': {
      doc: 'done or nack is cleared while it is not set',
      write: { status: (dev, value) => (value & (DONE | NACK) & ~dev.reg.status) !== 0 },
    },
  },
  onRead: {
    pins: dev => (dev.param.centidegrees > dev.reg.limit ? 1 : 0),
  },
  onWrite: {
    start(dev) {
      if (dev.reg.status & BUSY) return;
      dev.reg.status |= BUSY;
      dev.clock.after('finish', dev.param.latency);
    },
    status(dev) {
      dev.irq.set((dev.reg.status & (DONE | NACK)) !== 0);
    },
  },
  onAlarm: {
    finish(dev) {
      const isThere = dev.reg.target === SENSOR;
      dev.reg.length = isThere ? LENGTH : 0;
      dev.reg.data = isThere ? dev.param.centidegrees & 0xffff : 0;
      dev.reg.status = (dev.reg.status & ~BUSY) | (isThere ? DONE : NACK);
      dev.irq.raise();
    },
  },
});
