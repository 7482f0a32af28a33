// A reporter that lists the tests which passed at their second attempt only (vitest.config.ts says
// which get one), so that a test that fails now and then is seen and mended.
import type { Reporter, TestCase } from 'vitest/node';

export default class SecondAttempts implements Reporter {
  readonly #passed: string[] = [];

  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky) this.#passed.push(`${test.module.relativeModuleId}: ${test.fullName}`);
  }

  onTestRunEnd(): void {
    for (const name of this.#passed) console.log(`passed at the second attempt only: ${name}`);
  }
}
