// One judgement at a time, in a worker that ends with it.
import { workerScript } from '../views/load.ts';
import type { News, Wish } from './messages.ts';

export class Judging {
  #worker: Worker | undefined;

  /** Ends the one before. Errors: one line. */
  async start(wish: Wish, heard: (news: News) => void): Promise<void> {
    this.end();
    const worker = new Worker(await workerScript());
    this.#worker = worker;
    await new Promise<void>((done, failed) => {
      worker.onerror = event => failed(new Error(event.message || 'the worker ended'));
      worker.onmessage = ({ data }: MessageEvent<News>) => {
        if (data.kind === 'failed') failed(new Error(data.why));
        else heard(data);
        if (data.kind === 'done') done();
      };
      worker.postMessage(wish);
    }).finally(() => worker.terminate());
  }

  end(): void {
    this.#worker?.terminate();
  }
}
