// The reporter of `npm test`: writes how many tests passed, the seconds of each file, and each
// failure with its place and message, to the file that KCOVBOX_TALLY names. setup/test.mjs adds up
// the runs and repeats the failures at its end, where a log that was cut still has them.
import { writeFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import type { Reporter, TestCase, TestModule, TestSuite } from 'vitest/node';

interface Failure {
  /** The file, relative to the root of the tests; absent: an error outside of all files. */
  readonly file?: string;
  readonly name: string;
  /** The error, its place and its difference, as lines. */
  readonly message: readonly string[];
}

interface Raised {
  readonly name?: string | undefined;
  readonly message?: string | undefined;
  readonly diff?: string | undefined;
  readonly stacks?: readonly { file: string; line: number; column: number }[] | undefined;
}

function lines(errors: readonly Raised[]): string[] {
  const texts = errors.flatMap(({ name, message, diff, stacks }) => {
    const frame = stacks?.[0];
    const place = frame ? [`at ${frame.file}:${frame.line}:${frame.column}`] : [];
    return [`${name ?? 'Error'}: ${message ?? ''}`, ...place, ...(diff ? [diff] : [])];
  });
  return texts.flatMap(text => stripVTControlCharacters(text).trimEnd().split('\n'));
}

const failed = (file: string, name: string, errors: readonly Raised[]): Failure => ({
  file,
  name,
  message: lines(errors),
});

/** Failures of a file: its tests, and the hooks of its suites; of a broken file, its own errors. */
function* failuresOf(module: TestModule): Generator<Failure> {
  const file = module.relativeModuleId;
  const ofParts = (part: TestModule | TestSuite, name: string) =>
    part.errors().length > 0 ? [failed(file, name, part.errors())] : [];
  yield* ofParts(module, '(the file)');
  for (const suite of module.children.allSuites()) yield* ofParts(suite, suite.fullName);
  for (const test of module.children.allTests('failed'))
    yield failed(file, test.fullName, test.result().errors ?? []);
}

const count = (modules: readonly TestModule[], state: ReturnType<TestCase['result']>['state']) =>
  modules.reduce((sum, module) => sum + [...module.children.allTests(state)].length, 0);

/** Seconds of each file with its hooks: they show where the time of all tests goes. */
const secondsOf = (module: TestModule): { file: string; seconds: number } => {
  const { setupDuration, collectDuration, duration } = module.diagnostic();
  return { file: module.relativeModuleId, seconds: (setupDuration + collectDuration + duration) / 1000 };
};

export default class Tally implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly Raised[]): void {
    const path = process.env['KCOVBOX_TALLY'];
    if (path === undefined) throw new Error('KCOVBOX_TALLY does not name a file');
    const outside = unhandled.map(error => ({
      name: '(an error outside of tests)',
      message: lines([error]),
    }));
    const failures = [...modules.flatMap(module => [...failuresOf(module)]), ...outside];
    const files = modules.map(secondsOf);
    const tally = { passed: count(modules, 'passed'), skipped: count(modules, 'skipped'), failures, files };
    writeFileSync(path, JSON.stringify(tally));
  }
}
