// Worker threads for the batches of a campaign. The state of the campaign stays here; the workers
// follow it.
import { HostError } from '../../emulator/base/errors.ts';
import type { Descriptions } from '../../fuzz/index.ts';
import { type BatchResult, type EpochResult, mergeEpoch, State } from '../../fuzz/index.ts';
import type { CampaignEpoch } from '../../run/fuzz/schema.ts';
import { Threads } from '../io/threads.ts';
import type { Answer, Task, WorkerData } from './worker.ts';

export class Pool {
  readonly state: State;
  readonly #threads: Threads<Task, Answer>;

  constructor(data: WorkerData, descriptions: Descriptions, workers: number) {
    this.state = new State(data.config, descriptions);
    this.#threads = new Threads('fuzzWorker', data, workers);
  }

  close(): Promise<unknown> {
    return this.#threads.close();
  }

  #add(result: EpochResult): void {
    this.state.add(result);
    this.#threads.tell({ kind: 'epoch', result });
  }

  /** All that each of these programs covers. */
  async #covered(texts: readonly string[]): Promise<(readonly number[])[]> {
    const size = Math.max(1, Math.ceil(texts.length / (4 * this.#threads.count)));
    const tasks: Task[] = [];
    for (let from = 0; from < texts.length; from += size)
      tasks.push({ kind: 'cover', texts: texts.slice(from, from + size) });
    const answers = tasks.length > 0 ? await this.#threads.share(tasks) : [];
    return answers.flatMap(answer => (answer.kind === 'cover' ? answer.elements : []));
  }

  /**
   * Takes over epochs of the journal: the programs that they kept are executed again. Answers with
   * all that each of them covers.
   */
  async recall(epochs: readonly CampaignEpoch[]): Promise<readonly (readonly number[])[]> {
    const elements = await this.#covered(epochs.flatMap(({ entries }) => entries.map(({ text }) => text)));
    let at = 0;
    for (const { entries, covered, ...epoch } of epochs) {
      const covering = entries.map(entry => ({ ...entry, elements: elements[at++]! }));
      this.#add({ ...epoch, entries: covering });
      if (this.state.covered.size !== covered)
        throw new HostError(
          `epochs.jsonl:${epoch.epoch + 1}: the corpus covers ${this.state.covered.size} elements, and ${covered} by the journal`,
        );
    }
    return elements;
  }

  /** Runs the next epoch. */
  async epoch(): Promise<CampaignEpoch> {
    const { batches } = this.state.config;
    const tasks = Array.from({ length: batches }, (_, batch): Task => ({ kind: 'batch', batch }));
    const answers = await this.#threads.share(tasks);
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
