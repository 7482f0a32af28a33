// Worker threads of the command's bundle, which this file is a part of, that answer tasks. Each is
// an export of cli/main.ts that calls `serve`.
import { fileURLToPath } from 'node:url';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { HostError } from '../../emulator/base/errors.ts';

type Message<Answer> = { readonly answer: Answer } | { readonly error: string };

export class Threads<Task, Answer> {
  readonly #workers: Worker[] = [];
  #failed: ((error: Error) => void) | undefined;
  #answered: ((worker: Worker, answer: Answer) => void) | undefined;

  /** `body`: name of the export; `data`: what `dataOf` gives there. */
  constructor(body: string, data: object, count: number) {
    const bundle = fileURLToPath(import.meta.url);
    const thread = `require(require('node:worker_threads').workerData.bundle).${body}();`;
    for (let i = 0; i < count; i++) {
      const worker = new Worker(thread, { eval: true, workerData: { ...data, bundle } });
      worker.on('error', error => this.#failed?.(error));
      worker.on('message', (message: Message<Answer>) => {
        if ('error' in message) this.#failed?.(new HostError(message.error));
        else this.#answered?.(worker, message.answer);
      });
      this.#workers.push(worker);
    }
  }

  get count(): number {
    return this.#workers.length;
  }

  close(): Promise<unknown> {
    return Promise.all(this.#workers.map(worker => worker.terminate()));
  }

  /** Gives a task without an answer to every thread. */
  tell(task: Task): void {
    for (const worker of this.#workers) worker.postMessage(task);
  }

  /**
   * Gives each thread tasks as it becomes idle; the answers, by task. `done`: called behind each
   * answer. Errors: HostError with the message of a thread.
   */
  share(tasks: readonly Task[], done: (task: Task) => void = () => {}): Promise<Answer[]> {
    return new Promise((resolve, reject) => {
      const answers: Answer[] = [];
      const at = new Map<Worker, number>();
      let [next, left] = [0, tasks.length];
      const give = (worker: Worker): void => {
        if (next >= tasks.length) return;
        at.set(worker, next);
        worker.postMessage(tasks[next++]);
      };
      this.#failed = reject;
      this.#answered = (worker, answer) => {
        const task = at.get(worker)!;
        answers[task] = answer;
        done(tasks[task]!);
        if (--left === 0) resolve(answers);
        else give(worker);
      };
      for (const worker of this.#workers) give(worker);
      if (left === 0) resolve(answers);
    });
  }
}

/** Of this thread. */
export const dataOf = <Data>(): Data => workerData as Data;

/** Answers tasks one after another until the main thread ends; undefined: none is wanted. */
export function serve<Task, Answer>(answer: (task: Task) => Answer | undefined | Promise<Answer>): void {
  const post = (message: Message<Answer>): void => parentPort!.postMessage(message);
  let last: Promise<unknown> = Promise.resolve();
  const work = async (task: Task): Promise<void> => {
    try {
      const found = await answer(task);
      if (found !== undefined) post({ answer: found });
    } catch (error) {
      post({ error: (error as Error).message });
    }
  };
  parentPort!.on('message', (task: Task) => {
    last = last.then(() => work(task));
  });
}
