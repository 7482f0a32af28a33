// Worker threads for the batches of a campaign. The state of the campaign stays here; the workers
// follow it.
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { HostError } from '../../emulator/base/errors.ts';
import type { Descriptions } from '../../fuzz/index.ts';
import { type BatchResult, type EpochResult, mergeEpoch, State } from '../../fuzz/index.ts';
import type { CampaignEpoch } from '../../run/fuzz/schema.ts';
import type { Answer, Task, WorkerData } from './worker.ts';

/** A thread of the command's bundle, which this file is a part of. */
const THREAD = "require(require('node:worker_threads').workerData.bundle).fuzzWorker();";

export class Pool {
  readonly state: State;
  readonly #workers: Worker[] = [];
  #failed: ((error: Error) => void) | undefined;
  #answered: ((worker: Worker, answer: Answer) => void) | undefined;

  constructor(data: WorkerData, descriptions: Descriptions, workers: number) {
    this.state = new State(data.config, descriptions);
    const bundle = fileURLToPath(import.meta.url);
    for (let i = 0; i < workers; i++) {
      const worker = new Worker(THREAD, { eval: true, workerData: { ...data, bundle } });
      worker.on('error', error => this.#failed?.(error));
      worker.on('message', (answer: Answer) => {
        if (answer.kind === 'error') this.#failed?.(new HostError(answer.message));
        else this.#answered?.(worker, answer);
      });
      this.#workers.push(worker);
    }
  }

  close(): Promise<unknown> {
    return Promise.all(this.#workers.map(worker => worker.terminate()));
  }

  /** Gives each worker tasks as it becomes idle; the answers, by task. */
  #share(tasks: readonly Task[]): Promise<Answer[]> {
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
        answers[at.get(worker)!] = answer;
        if (--left === 0) resolve(answers);
        else give(worker);
      };
      for (const worker of this.#workers) give(worker);
      if (left === 0) resolve(answers);
    });
  }

  #add(result: EpochResult): void {
    this.state.add(result);
    for (const worker of this.#workers) worker.postMessage({ kind: 'epoch', result } satisfies Task);
  }

  /** Takes over epochs of the journal: the programs that they kept are executed again. */
  async recall(epochs: readonly CampaignEpoch[]): Promise<void> {
    const texts = epochs.flatMap(({ entries }) => entries.map(({ text }) => text));
    const size = Math.max(1, Math.ceil(texts.length / (4 * this.#workers.length)));
    const tasks: Task[] = [];
    for (let from = 0; from < texts.length; from += size)
      tasks.push({ kind: 'cover', texts: texts.slice(from, from + size) });
    const answers = tasks.length > 0 ? await this.#share(tasks) : [];
    const elements = answers.flatMap(answer => (answer.kind === 'cover' ? answer.elements : []));
    let at = 0;
    for (const { entries, covered, ...epoch } of epochs) {
      const covering = entries.map(entry => ({ ...entry, elements: elements[at++]! }));
      this.#add({ ...epoch, entries: covering });
      if (this.state.covered.size !== covered)
        throw new HostError(
          `epoch ${epoch.epoch}: the corpus covers ${this.state.covered.size} elements, and ${covered} by the journal`,
        );
    }
  }

  /** Runs the next epoch. */
  async epoch(): Promise<CampaignEpoch> {
    const { batches } = this.state.config;
    const tasks = Array.from({ length: batches }, (_, batch): Task => ({ kind: 'batch', batch }));
    const answers = await this.#share(tasks);
    const results: BatchResult[] = answers.flatMap(answer =>
      answer.kind === 'batch' ? [answer.result] : [],
    );
    const result = mergeEpoch(this.state, results);
    this.#add(result);
    return journalled(result, this.state.covered.size);
  }
}

const journalled = (result: EpochResult, covered: number): CampaignEpoch => ({
  ...result,
  entries: result.entries.map(({ text, execution }) => ({ text, execution })),
  crashes: [...result.crashes],
  bugs: [...result.bugs],
  words: [...result.words],
  looked: [...result.looked],
  steps: [...result.steps],
  yields: result.yields,
  covered,
});
