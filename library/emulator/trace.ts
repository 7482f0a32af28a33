// Recording what the kcov device sees as a trace file, which kcovbox/coverage reads.
import { writeTrace } from '../../coverage/record.ts';
import type { Machine } from '../../emulator/index.ts';
import { TraceRecorder } from '../../run/trace-recorder.ts';
import { join } from '../bytes.ts';
import type { TraceOptions } from './options.ts';

/** A trace that is being recorded. */
export interface TraceRecording {
  /** Records so far, lost ones included. */
  readonly count: number;
  /**
   * Ends the recording.
   *
   * @returns the bytes of a `.kcov` file, for `readTrace` of `kcovbox/coverage` and the command
   *   line.
   */
  finish(): Uint8Array;
}

/** @internal */
export function record(
  machine: Machine,
  kernel: Uint8Array,
  options: TraceOptions,
  onEnd: () => void,
): TraceRecording {
  const recorder = new TraceRecorder(options.dialect ?? '', kernel, options.test ?? '', {
    keepLost: options.keepLost,
  });
  recorder.attach(machine);
  let bytes: Uint8Array | undefined;
  return {
    get count() {
      return recorder.count;
    },
    finish() {
      if (bytes) return bytes;
      bytes = join(writeTrace(recorder.finish()));
      machine.board.kcov?.onRecord(undefined);
      machine.board.kcov?.onSwitch(undefined);
      onEnd();
      return bytes;
    },
  };
}
