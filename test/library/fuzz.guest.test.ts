// The fuzzer as a library against the command: the same campaigns and the same executions; and a
// search over programs of generated seeds for a text, a change or a smaller program that is wrong.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { Image, measure, readTrace } from '../../library/coverage.ts';
import { type Campaign, type CampaignOptions, type FuzzTarget, openFuzzTarget } from '../../library/fuzz.ts';
import {
  type FuzzTargetOptions,
  fuzzTarget,
  KcovboxError,
  kernelDescriptions,
  run,
} from '../../library/node.ts';
import { campaignEpoch } from '../../run/fuzz/schema.ts';
import { kcovbox } from '../support/command.ts';
import { seedFromEnvironment } from '../support/random.ts';

const dir = mkdtempSync(join(tmpdir(), 'kcovbox-library-fuzz-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const own = join(dir, 'own.kd');
writeFileSync(own, 'call read$small(fd: fd, buffer: out bytes[1:8], size: len64 buffer)\n');

let target: FuzzTarget;
beforeAll(async () => {
  target = await fuzzTarget({ describe: [own] });
});

interface Case {
  readonly name: string;
  readonly target: FuzzTargetOptions;
  readonly options: CampaignOptions;
  readonly flags: readonly string[];
}

const CASES: readonly Case[] = [
  {
    name: 'the defaults',
    target: {},
    options: { executions: 1500, seed: 5n },
    flags: ['-n', '1500', '--seed', '5', '-j', '2'],
  },
  {
    name: 'calls of its own, without comparisons',
    target: { describe: [own], engine: 'interp' },
    options: { executions: 1, calls: ['open*', 'read$small', 'pipe2'], comparisons: false, settle: true },
    flags: [
      ...['-n', '1', '--describe', own, '--call', 'open*', '--call', 'read$small', '--call', 'pipe2'],
      ...['--no-comparisons', '--settle'],
    ],
  },
  {
    name: 'threads and faults on a kernel with bugs, whose allocations fail',
    target: { conf: 'linux+fail-nth+bugs', append: 'bugs=all', threads: true, faultable: ['edu'] },
    options: { executions: 1024, seed: 9n, schedule: 'pct:2', faults: ['edu:irq-drop'] },
    flags: [
      ...['-n', '1024', '--seed', '9', '--conf', 'linux+fail-nth+bugs', '--append', 'bugs=all', '--fail'],
      ...['--schedule', 'pct:2', '--fault', 'edu:irq-drop'],
    ],
  },
];

/** The finds of a campaign, as the journal of the command has them. */
const shown = ({ corpus, finds, bugs, log }: Campaign): unknown => ({
  entries: corpus.map(({ program, execution }) => ({ text: program.text, execution })),
  crashes: finds.map(({ program, ...rest }) => ({ text: program.text, ...rest })),
  bugs: bugs.map(({ program, ...rest }) => ({ text: program.text, ...rest })),
  covered: log.map(({ edges }) => edges),
});

function journal(folder: string): unknown {
  const lines = readFileSync(join(folder, 'epochs.jsonl'), 'utf8').trimEnd().split('\n');
  const epochs = lines.map(line => campaignEpoch.parse(JSON.parse(line)));
  return {
    entries: epochs.flatMap(({ entries }) => entries),
    crashes: epochs.flatMap(({ crashes }) => crashes),
    bugs: epochs.flatMap(({ bugs }) => bugs),
    covered: epochs.map(({ covered }) => covered),
  };
}

test.each(CASES)('a campaign is that of the command: $name', async ({ name, target, options, flags }) => {
  const folder = join(dir, name.replaceAll(/\W/g, '-'));
  const { status, stderr } = kcovbox(['fuzz', 'run', ...flags, folder], { cwd: dir });
  expect([0, 1], stderr).toContain(status);
  const campaign = await (await fuzzTarget(target)).campaign(options);
  expect(campaign.corpus.length).toBeGreaterThan(10);
  expect(shown(campaign)).toEqual(journal(folder));
  expect(campaign).toMatchObject({ edges: campaign.log.at(-1)!.edges, programs: campaign.corpus.length });
});

describe('a target', () => {
  it('executes as `fuzz exec` does', () => {
    const text = 'pipe2(&{>r0, >r1}, 0x0)\nwrite(r1, &"abc", 0x3)\nread(r0, &out[8], 0x8)\nclose(0x1f)\n';
    const path = join(dir, 'pipe.txt');
    writeFileSync(path, text);
    const { calls, end, crash, instructions } = target.execute(target.descriptions.program(text), {
      settle: true,
    });
    const lines = calls.map(
      ({ name, value, pcs }) =>
        `${name}: ${value! < 0n ? value : `0x${value!.toString(16)}`}, ${pcs.length} points\n`,
    );
    expect(calls.map(({ value }) => value)).toEqual([0n, 3n, 3n, -9n]);
    expect({ end, crash }).toEqual({ end: 'done', crash: undefined });
    const { stdout } = kcovbox(['fuzz', 'exec', path], { cwd: dir });
    expect(stdout).toBe(`${lines.join('')}done, ${instructions.toLocaleString('en-US')} instructions\n`);
  });

  it('records the comparisons of each call, at places of the kernel', () => {
    const { calls } = target.execute(target.descriptions.program('dup(0x777)\n'), {
      record: 'cmp',
    });
    expect(calls[0]!.pcs).toHaveLength(0);
    const seen = calls[0]!.comparisons.filter(({ first, second }) => first === 0x777n || second === 0x777n);
    expect(seen.length).toBeGreaterThan(0);
    for (const { pc } of seen) expect(target.image.symbolize(pc)[0]!.file).toMatch(/\.[ch]$/);
  });

  it('a trace has the points of its programs, and reports take it', () => {
    const programs = ['getpid()\n', 'pipe2(&{0x0, 0x0}, 0x0)\n'].map(text =>
      target.descriptions.program(text),
    );
    const trace = readTrace(target.trace(programs).bytes());
    expect(trace.tests).toEqual(['program-1', 'program-2']);
    for (const [i, program] of programs.entries()) {
      const { calls, deferred } = target.execute(program, { settle: true });
      const wanted = [...calls.flatMap(({ pcs }) => [...pcs]), ...deferred];
      const records = [...trace.filter({ test: `program-${i + 1}` }).records()];
      expect(records.map(({ pc }) => pc)).toEqual(wanted);
    }
    const coverage = measure(trace, target.image);
    expect(coverage.functions().find(({ name }) => name === 'sys_pipe2')?.hits).toBe(1);
    expect(coverage.totals().lines.covered).toBeGreaterThan(100);
  });

  it('a trace has no records that a program has written itself', () => {
    const { descriptions, image } = target;
    // The number of records is the first word of kcov's buffer, the points follow.
    for (const at of ['0x10100000', '0x101001e0', '0x10300000']) {
      const made = `pipe2(&{>r0, >r1}, 0x0)\nwrite(r1, &"${'\\xff'.repeat(64)}", 0x40)\nread(r0, ${at}, 0x40)\n`;
      const trace = target.trace([descriptions.program(made), descriptions.program('getpid()\n')]);
      expect(trace.lost, at).toBeGreaterThan(0);
      for (const pc of trace.pcs) expect(image.symbolize(pc)[0]!.function, at).not.toBe('');
      const coverage = measure(trace, image);
      expect(coverage.functions().find(({ name }) => name === 'sys_getpid')?.hits).toBe(1);
    }
  });

  it('a trace says that a full buffer has dropped records', () => {
    const text = 'mmap(vma(0), 0x1000000, 0x3, 0x8032, 0xffffffff, 0x0)\n';
    const program = target.descriptions.program(text);
    const [call] = target.execute(program).calls;
    expect(call!.pcs.length).toBeGreaterThan(60_000);
    expect(target.trace([program]).lost).toBeGreaterThan(0);
  });

  it('does not follow the options that the caller changes later', async () => {
    const options: { threads?: boolean } = {};
    const other = await fuzzTarget(options);
    options.threads = true;
    await expect(other.campaign({ executions: 1, schedule: 'rw' })).rejects.toThrow(/a target with threads/);
  });

  it('a campaign ends with its signal, and others between its batches do not change it', async () => {
    const stop = new AbortController();
    const options = { executions: 1024, seed: 5n };
    const reason = new Error('enough');
    const ended = target.campaign({
      ...options,
      executions: 1e9,
      signal: stop.signal,
      onEpoch: () => stop.abort(reason),
    });
    await expect(ended).rejects.toBe(reason);
    const alone = await target.campaign(options);
    const program = target.descriptions.program('pipe2(&{0x0, 0x0}, 0x0)\n');
    const [one, two] = await Promise.all([
      target.campaign(options),
      target.campaign({ ...options, seed: 6n }),
      ...Array.from({ length: 20 }, async () => target.execute(program, { record: 'cmp' })),
    ]);
    expect(shown(one)).toEqual(shown(alone));
    expect(shown(two)).not.toEqual(shown(alone));
  });

  it('a target of its images has the same campaign', async () => {
    const options = { executions: 1024, seed: 5n };
    const same = openFuzzTarget(structuredClone(target.images), { engine: 'interp' });
    expect(same.descriptions.call('read$small')).toBeDefined();
    expect(shown(await same.campaign(options))).toEqual(shown(await target.campaign(options)));
  });

  it('is not changed through its images, or those that it was made of', () => {
    const given = structuredClone(target.images);
    const own = openFuzzTarget(given);
    const { id } = target.image;
    for (const images of [given, own.images]) {
      images.kernel.fill(0);
      images.initrd.fill(0);
      Object.assign(images, { threads: true, conf: 'linux+fail-nth' });
      (images.faultable as string[]).push('edu');
      Object.assign(images.files[0]!, { text: '' });
    }
    expect(own.images).toEqual(target.images);
    expect(own.image.id).toBe(id);
  });

  it('refuses threads, faults and memory that it does not have', async () => {
    const { descriptions } = target;
    const refused = (text: string): unknown => {
      try {
        return target.execute(descriptions.program(text));
      } catch (error) {
        expect(error).toBeInstanceOf(KcovboxError);
        return (error as Error).message;
      }
    };
    expect(refused('!schedule rw 0x5\nclose(0x1) !thread=1\nclose(0x1) !thread=2\n')).toMatch(
      /one thread, the program has two/,
    );
    expect(refused('!fault edu:irq-drop@1\ngetpid()\n')).toMatch(/has a fault of edu, the target has none/);
    const long = `write(0x1, &"${'a'.repeat(60_000)}", 0x1)\n`;
    expect(refused(long.repeat(3))).toMatch(/memory/);
    await expect(target.campaign({ executions: 1, schedule: 'rw' })).rejects.toThrow(
      /needs a target with threads/,
    );
    await expect(target.campaign({ executions: 1, faults: ['edu'] })).rejects.toThrow(
      /faults of edu need it/,
    );
  });

  it('a program in C makes the same calls', async () => {
    const program = target.descriptions.program('mkdirat(0xffffff9c, &"q\\x00", 0x1ff)\n');
    const path = join(dir, 'small.c');
    writeFileSync(path, program.c());
    const ran = await run(path, { dialect: 'linux', trace: true });
    expect(ran.status).toBe(0);
    const [call] = target.execute(program).calls;
    const mkdir = ran
      .coverage()
      .functions()
      .find(({ name }) => name === 'sys_mkdirat');
    expect(mkdir?.hits).toBeGreaterThan(0);
    expect(new Set(call!.pcs).size).toBeGreaterThan(20);
    expect(ran.image).toBeInstanceOf(Image);
  });
});

it('what a caller is given of descriptions changes no program', () => {
  const descriptions = kernelDescriptions();
  const program = descriptions.program('openat(0xffffff9c, &"f\\x00", 0x0, 0x0)\n');
  const before = program.text + program.c();
  // biome-ignore lint/suspicious/noExplicitAny: what no type checker lets through
  const call = descriptions.call('openat') as any;
  const [resource] = descriptions.resources as unknown as { special: bigint[] }[];
  const [flags] = descriptions.flags as unknown as { values: bigint[] }[];
  expect(() => {
    call.number = 1;
  }).toThrow(TypeError);
  expect(() => call.args.pop()).toThrow(TypeError);
  expect(() => {
    call.args[1].type.to = { kind: 'nothing' };
  }).toThrow(TypeError);
  expect(() => resource!.special.push(7n)).toThrow(TypeError);
  expect(() => flags!.values.push(7n)).toThrow(TypeError);
  expect(program.text + program.c()).toBe(before);
});

it('programs of generated seeds: texts read back, changes are well-typed, smaller ones show the same', () => {
  const descriptions = kernelDescriptions([own]);
  const seed = BigInt(seedFromEnvironment(1));
  for (let n = 0n; n < 40n; n++) {
    const options = { seed: seed + n, failsAllocations: n % 2n === 0n, dictionary: [0x1234n, -1n] };
    const [one, two] = [descriptions.generator(options), descriptions.generator(options)];
    let program = one.program();
    expect(two.program().text, `seed ${seed + n}`).toBe(program.text);
    for (let k = 0; k < 25; k++) {
      const before = program.text;
      const next = one.mutate(program, [program]);
      expect(two.mutate(program, [program]).text).toBe(next.text);
      expect(program.text, 'a program never changes').toBe(before);
      expect(descriptions.program(next.text).text).toBe(next.text);
      expect(next.c()).toContain('int main(void)');
      if (next.calls.length > 0) {
        const wanted = next.calls.at(-1)!;
        const small = next.minimize(({ calls }) => calls.includes(wanted));
        expect(small.calls).toEqual([wanted]);
        expect(descriptions.program(small.text).text).toBe(small.text);
        expect(next.without(0).calls).toEqual(next.calls.slice(1));
      }
      program = next;
    }
  }
});
