// The page's end of the worker: one promise for each request.
import type { Answer, Request, RequestName, Requests } from '../protocol.ts';

export class Client {
  readonly #worker = new Worker(new URL('../engine/worker.ts', import.meta.url), { type: 'module' });
  readonly #waiting = new Map<number, { done: (value: unknown) => void; failed: (error: Error) => void }>();
  #next = 1;

  constructor() {
    this.#worker.onmessage = ({ data }: MessageEvent<Answer>) => {
      const waiting = this.#waiting.get(data.id);
      this.#waiting.delete(data.id);
      if (data.ok) waiting?.done(data.value);
      else waiting?.failed(new Error(data.error));
    };
    this.#worker.onerror = event => {
      for (const { failed } of this.#waiting.values()) failed(new Error(event.message || 'the worker ended'));
      this.#waiting.clear();
    };
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
