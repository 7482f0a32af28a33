// The properties that the views of the kernel have in common.
import type { Measure, Opened } from '../protocol.ts';
import type { Client } from './client.ts';
import type { Shown } from './shown.ts';

export interface BrowseProps {
  readonly client: Client;
  readonly opened: Opened;
  readonly measure: Measure;
  readonly shown: Shown | undefined;
  readonly onMeasure: (measure: Measure) => void;
  readonly onShow: (shown: Shown) => void;
  readonly onSeek: (unit: number) => void;
}
