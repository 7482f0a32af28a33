// Lets an event end a wait early: the main loop waits for input for some time, and the arrival of
// input wakes it.

export class Waker {
  #wake: (() => void) | undefined;

  /** Ends the wait, if there is one. */
  wake(): void {
    this.#wake?.();
  }

  /** Resolves after the given milliseconds, or at the next `wake`. One wait at a time. */
  async wait(ms: number): Promise<void> {
    await new Promise<void>(done => {
      const timer = setTimeout(done, ms);
      this.#wake = () => {
        clearTimeout(timer);
        done();
      };
    });
    this.#wake = undefined;
  }
}
