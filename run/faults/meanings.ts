// The meanings of the faults of devices, in words. Apart from the catalogue in
// emulator/bus/fault-kinds.ts, because the page knows the faults and prints none of these lines.
import type { FaultKind } from '../../emulator/index.ts';

export const FAULT_MEANINGS: Readonly<Record<FaultKind, string>> = {
  'irq-drop': 'the interrupt does not arrive',
  'irq-late': 'the interrupt arrives later',
  'irq-double': 'after it was acknowledged the interrupt comes again, without a cause',
  'irq-stuck': 'from then on the interrupt line stays high until it is raised again',
  'irq-spurious': 'an interrupt without a cause, for some time',
  'read-ones': 'the read answers with all ones',
  'read-zero': 'the read answers with 0',
  'read-flip': 'one bit of the answer is wrong',
  'read-any': 'the answer is another value that the register can have',
  'read-stuck': 'this register answers the same from then on: status never ready',
  'bus-error': 'the access is an access fault',
  'write-drop': 'the write has no effect',
  'write-twice': 'the write happens twice',
  remove: 'surprise removal: reads are all ones, writes, DMA and interrupts nothing',
  reset: 'the device resets itself before the access',
  late: 'what the device does by itself it does later',
  never: 'what the device would do by itself it does not do',
  'dma-drop': 'the transfer to memory does not happen',
  'dma-short': 'only the first half reaches memory',
  'dma-flip': 'one bit that reaches memory is wrong',
  'dma-ones': 'all ones reach memory: indexes and lengths out of range',
  'dma-any': 'numbers in what reaches memory are any others',
  'dma-misdirect': 'the transfer goes to the next page',
  'dma-read-zero': 'the device reads zeros from memory',
  'dma-read-flip': 'one bit of what the device reads from memory is wrong',
};
