// The page's end of the worker: one promise for each request.
import type { Answer, Request, RequestName, Requests, Sent, Wanted } from '../protocol.ts';
import { inlined, load, workerScript } from './load.ts';

/** The error of requests that `restart` has ended. */
export const STOPPED = 'stopped';

export class Client {
  readonly #waiting = new Map<number, { done: (value: unknown) => void; failed: (error: Error) => void }>();
  #next = 1;
  #worker = this.#started();
  /** Nothing was asked of it. */
  #isIdle = true;

  async #started(): Promise<Worker> {
    const worker = new Worker(await workerScript());
    worker.onmessage = ({ data }: MessageEvent<Answer | Wanted>) => {
      if ('want' in data) return void this.#send(worker, data.want);
      const waiting = this.#waiting.get(data.id);
      this.#waiting.delete(data.id);
      if (data.ok) waiting?.done(data.value);
      else waiting?.failed(new Error(data.error));
    };
    worker.onerror = event => this.#fail(event.message || 'the worker ended');
    return worker;
  }

  /** The worker has no network. */
  async #send(worker: Worker, path: string): Promise<void> {
    let sent: Sent;
    try {
      const bytes = await load(path);
      sent = { path, bytes };
      worker.postMessage(sent, inlined ? [] : [bytes.buffer]);
    } catch (error) {
      sent = { path, error: (error as Error).message };
      worker.postMessage(sent);
    }
  }

  #fail(why: string): void {
    for (const { failed } of this.#waiting.values()) failed(new Error(why));
    this.#waiting.clear();
  }

  /** Ends whatever runs, however long it would take, and frees its memory. */
  restart(): void {
    if (this.#isIdle) return;
    this.#isIdle = true;
    void this.#worker.then(
      worker => worker.terminate(),
      () => {},
    );
    this.#fail(STOPPED);
    this.#worker = this.#started();
  }

  /** Errors: one line for people. */
  ask<N extends RequestName>(name: N, args: Requests[N][0]): Promise<Requests[N][1]> {
    this.#isIdle = false;
    const id = this.#next++;
    const request: Request<N> = { id, name, args };
    return new Promise<unknown>((done, failed) => {
      this.#waiting.set(id, { done, failed });
      this.#worker.then(worker => worker.postMessage(request), failed);
    }) as Promise<Requests[N][1]>;
  }
}
