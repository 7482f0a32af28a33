// `kcovbox capsule`: what is in the file of a recorded run, without running it.
import { join } from 'node:path';
import type { Command } from 'commander';
import { counted, visible } from '../../emulator/base/words.ts';
import { inCapsule, openCapsule } from '../../host/capsule.ts';
import { type Capsule, type CapsuleManifest, partRow } from '../../run/capsule/index.ts';
import { UserError } from '../io/fail.ts';
import { checkOutput, fillFolder, printJson, writeBytesTo, writeFile } from '../io/output.ts';
import { repeated } from '../io/repeated.ts';

const count = (n: number): string => n.toLocaleString('en-US');

/** Lines of "name: value". */
function factsOf({ kcovbox, stateHash, run, outcome }: CapsuleManifest): [string, string][] {
  const { machine, input } = run;
  const what: [string, string][] =
    run.format === 'kcovbox run'
      ? [
          ['program', run.program.argv.join(' ')],
          ['kernel', `${run.kernel.conf} (${run.images.kernel.id})`],
          ['command line', [run.kernel.append, run.kernel.tail].join(' ').trim()],
        ]
      : [['command line', run.append]];
  const seeds = machine.seed === null ? '' : `, seed ${machine.seed}`;
  return [
    ['recorded by', `kcovbox ${kcovbox} ${run.format === 'kcovbox run' ? 'run' : 'boot'}`],
    ...what,
    [
      'machine',
      `${counted(machine.harts, 'hart')}, ${machine.memory / 2 ** 20} MiB, kcov ${machine.kcov}${seeds}`,
    ],
    ['input', input.kind === 'none' ? 'none' : `${input.kind}, ${count(input.bytes)} bytes`],
    ['end', `${outcome.end}, status ${outcome.status}`],
    ['instructions', `${count(outcome.instret)} in ${count(outcome.time)} units of virtual time`],
    ['records', count(outcome.records)],
    ['state', `${outcome.stateHash} (${stateHash})`],
  ];
}

function info(path: string, options: { json?: true }): void {
  const { manifest } = openCapsule(path);
  if (options.json) {
    printJson(manifest);
    return;
  }
  for (const [name, value] of factsOf(manifest)) console.log(`${`${name}:`.padEnd(14)}${visible(value)}`);
  console.log('parts:');
  for (const { name, bytes, sha256, isPresent } of manifest.parts)
    console.log(
      `  ${name.padEnd(14)}${count(bytes).padStart(13)} bytes  sha256 ${sha256.slice(0, 16)}...  ${isPresent ? '' : 'not here; '}${partRow(name)!.doc}`,
    );
}

function verify(path: string): void {
  const capsule = openCapsule(path);
  inCapsule(path, () => capsule.verify());
  const absent = capsule.manifest.parts.filter(({ isPresent }) => !isPresent).map(({ name }) => name);
  const rest = absent.length === 0 ? '' : `; ${absent.join(', ')} only as hashes`;
  console.log(`${path}: every part is there and has its hash${rest}`);
}

/**
 * Writes the parts into a folder that was empty or is new: nothing there is followed or replaced.
 */
function extract(path: string, { output }: { output: string }): void {
  const capsule = openCapsule(path);
  inCapsule(path, () => capsule.verify());
  fillFolder(output, 'capsule extract', () => {
    for (const { name, isPresent } of capsule.manifest.parts)
      if (isPresent) writeFile(join(output, name), capsule.read(name));
    writeFile(join(output, 'manifest.json'), capsule.manifestBytes);
  });
}

/** Names of images, or all that are present. */
function leftOut(path: string, capsule: Capsule, keep: readonly string[]): Set<string> {
  const images = capsule.manifest.parts.filter(({ name }) => partRow(name)!.isImage).map(({ name }) => name);
  const unknown = keep.find(name => !images.includes(name));
  if (unknown !== undefined)
    throw new UserError(`capsule thin: ${path} has no image ${unknown}; it has ${images.join(', ')}`);
  return new Set(images.filter(name => !keep.includes(name)));
}

function thin(path: string, options: { output: string; keep?: string[] }): void {
  checkOutput(options.output);
  const capsule = openCapsule(path);
  inCapsule(path, () => capsule.verify());
  const names = leftOut(path, capsule, options.keep ?? []);
  writeBytesTo(
    options.output,
    inCapsule(path, () => capsule.without(names)),
  );
}

export function register(program: Command): void {
  const capsule = program
    .command('capsule')
    .description('look into the file of a recorded run: list, check, unpack, leave out images')
    .addHelpText(
      'after',
      '\nA capsule is a ZIP archive (docs/capsules.md). `run --record` and `boot --record` write one, `replay` runs it.\n' +
        'Examples:\n  kcovbox capsule info bug.kcapsule\n  kcovbox capsule extract -o bug bug.kcapsule',
    );
  capsule
    .command('info')
    .description('print what the run was and which parts the file has')
    .argument('<capsule>', 'file that --record wrote')
    .option('--json', 'the manifest as JSON')
    .addHelpText('after', '\nExample:\n  kcovbox capsule info bug.kcapsule')
    .action(info);
  capsule
    .command('verify')
    .description('check every part against its hash, without running anything')
    .argument('<capsule>', 'file that --record wrote')
    .addHelpText('after', '\nExample:\n  kcovbox capsule verify bug.kcapsule && kcovbox replay bug.kcapsule')
    .action(verify);
  capsule
    .command('extract')
    .description('unpack the parts into a new folder, under the names that info shows')
    .argument('<capsule>', 'file that --record wrote')
    .requiredOption('-o, --output <dir>', 'a folder that does not exist, or is empty')
    .addHelpText('after', '\nExample:\n  kcovbox capsule extract -o bug bug.kcapsule')
    .action(extract);
  capsule
    .command('thin')
    .description('write a copy without the images; replay finds those by their hashes')
    .argument('<capsule>', 'file that --record wrote')
    .requiredOption('-o, --output <file>', 'the thin capsule; - for standard output')
    .option('--keep <name>', 'an image that stays, such as initrd.bin (repeatable)', repeated)
    .addHelpText(
      'after',
      '\nExamples:\n  kcovbox capsule thin -o thin.kcapsule bug.kcapsule\n' +
        '  kcovbox capsule thin --keep initrd.bin -o small.kcapsule bug.kcapsule',
    )
    .action(thin);
}
