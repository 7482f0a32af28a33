// The page's end of the worker: one promise for each request.
import type { Answer, Inlined, Request, RequestName, Requests } from '../protocol.ts';
import { inlined } from './load.ts';

/** The error of requests that `restart` has ended. */
export const STOPPED = 'stopped';

let workerUrl: string | undefined;
/** The address of the worker's script where the page is one file. */
const inlinedWorker = (files: Inlined): string =>
  (workerUrl ??= URL.createObjectURL(
    new Blob([files.get('worker.js') as Uint8Array<ArrayBuffer>], { type: 'text/javascript' }),
  ));

export class Client {
  readonly #waiting = new Map<number, { done: (value: unknown) => void; failed: (error: Error) => void }>();
  #next = 1;
  #worker = this.#started();

  #started(): Worker {
    const worker = inlined
      ? new Worker(inlinedWorker(inlined))
      : new Worker(new URL('../engine/worker.ts', import.meta.url), { type: 'module' });
    worker.onmessage = ({ data }: MessageEvent<Answer>) => {
      const waiting = this.#waiting.get(data.id);
      this.#waiting.delete(data.id);
      if (data.ok) waiting?.done(data.value);
      else waiting?.failed(new Error(data.error));
    };
    worker.onerror = event => this.#fail(event.message || 'the worker ended');
    return worker;
  }

  #fail(why: string): void {
    for (const { failed } of this.#waiting.values()) failed(new Error(why));
    this.#waiting.clear();
  }

  /** Ends whatever runs, however long it would take, and frees its memory. */
  restart(): void {
    this.#worker.terminate();
    this.#fail(STOPPED);
    this.#worker = this.#started();
  }

  /** Errors: one line for people. */
  ask<N extends RequestName>(name: N, args: Requests[N][0]): Promise<Requests[N][1]> {
    const id = this.#next++;
    const request: Request<N> = { id, name, args };
    return new Promise<unknown>((done, failed) => {
      this.#waiting.set(id, { done, failed });
      this.#worker.postMessage(request);
    }) as Promise<Requests[N][1]>;
  }
}
