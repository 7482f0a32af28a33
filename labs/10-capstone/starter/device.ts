// The mixer: a device that computes a hash of bytes in memory. The text has its register page.
import { defineDevice } from 'kcovbox/device';

export default defineDevice({
  name: 'mixer',
  compatible: 'lab,mixer',
  doc: 'Computes FNV-1a over bytes in memory.',
  registers: {
    id: { at: 0x00, access: 'r', reset: 0x6d697831, doc: 'always 0x6d697831' },
  },
});
