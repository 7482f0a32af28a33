// The page's end of the worker: one promise for each request.
import type { Answer, Request, RequestName, Requests, Sent, Wanted } from '../protocol.ts';
import { inlined, load, newWorker } from './load.ts';

/** The error of requests that `restart` or `end` has ended. */
export const STOPPED = 'stopped';

/** One worker, with the requests that it has not answered. */
export class Connection {
  readonly #waiting = new Map<number, { done: (value: unknown) => void; failed: (error: Error) => void }>();
  #next = 1;
  #isEnded = false;
  readonly #worker = this.#started();

  async #started(): Promise<Worker> {
    const worker = await newWorker();
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
  end(): void {
    this.#isEnded = true;
    void this.#worker.then(
      worker => worker.terminate(),
      () => {},
    );
    this.#fail(STOPPED);
  }

  /** Errors: one line for people. */
  ask<N extends RequestName>(name: N, args: Requests[N][0]): Promise<Requests[N][1]> {
    if (this.#isEnded) return Promise.reject(new Error(STOPPED));
    const id = this.#next++;
    const request: Request<N> = { id, name, args };
    return new Promise<unknown>((done, failed) => {
      this.#waiting.set(id, { done, failed });
      this.#worker.then(worker => worker.postMessage(request), failed);
    }) as Promise<Requests[N][1]>;
  }
}

/** The worker whose run is shown. */
export class Client {
  #now = new Connection();
  /** Nothing was asked of it. */
  #isIdle = true;

  /** Ends what the worker does, and starts another one. */
  restart(): void {
    if (!this.#isIdle) this.replace(new Connection());
    this.#isIdle = true;
  }

  /** Ends this worker; the other one has its place. */
  replace(next: Connection): void {
    this.#now.end();
    this.#now = next;
    this.#isIdle = false;
  }

  /** Errors: one line for people. */
  ask<N extends RequestName>(name: N, args: Requests[N][0]): Promise<Requests[N][1]> {
    this.#isIdle = false;
    return this.#now.ask(name, args);
  }
}
