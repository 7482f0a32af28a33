// The worker of the labs: judges one submission as `kcovbox lab test` does, with the same modules.
import { judge } from '../../grade/judge/judge.ts';
import { submissionOf } from '../../grade/judge/lab.ts';
import { contentsOf, filesOf } from '../../grade/judge/portable.ts';
import type { News, Wish } from '../labs/messages.ts';
import { pageWorkshop, sha256OfParts } from './workshop.ts';

declare const self: {
  onmessage: (event: { data: Wish }) => void;
  postMessage(message: News): void;
};

self.onmessage = async ({ data: { kcovbox, lab, files, builder, only } }) => {
  try {
    const contents = contentsOf(lab);
    const submission = submissionOf(contents, filesOf(files), lab.name, sha256OfParts);
    let capsule: Uint8Array | undefined;
    const score = await judge(contents, submission, {
      workshop: pageWorkshop(lab, kcovbox, builder),
      only,
      explains: true,
      keep(path, bytes) {
        if (path.endsWith('.kcapsule')) capsule = bytes;
      },
      decided(_, check) {
        self.postMessage({ kind: 'decided', check, capsule });
        capsule = undefined;
      },
    });
    self.postMessage({ kind: 'done', score });
  } catch (error) {
    self.postMessage({ kind: 'failed', why: (error as Error).message });
  }
};
