// QEMU's command line, by the table in option-rows.ts. One dash or two; the value is the next word,
// or follows `=`.
import { UserError } from '../io/fail.ts';
import { type Effect, type OptionRow, OWN_OPTIONS, QEMU_OPTIONS } from './option-rows.ts';
import { defaults, type QemuOptions } from './options.ts';
import { DEVICES } from './qemu-devices.ts';

const ROWS: ReadonlyMap<string, OptionRow> = new Map(
  [...QEMU_OPTIONS, ...OWN_OPTIONS].map(row => [row.name, row]),
);

/** Of QEMU's options the last one holds, as with QEMU; of our own, a second value is a mistake. */
const takesOne = (row: OptionRow): boolean => row.value !== undefined && OWN_OPTIONS.includes(row);

/** Parses the words; the error names the first wrong one, and the `verb` that has them. */
export function parseQemu(words: readonly string[], verb = 'boot'): QemuOptions {
  const options = defaults();
  const given = new Set<OptionRow>();
  for (let i = 0; i < words.length; i++) {
    const text = words[i]!;
    const [, name, inline] = /^--?([A-Za-z][\w-]*)(?:=(.*))?$/s.exec(text) ?? [];
    if (name === undefined)
      throw new UserError(
        `${verb}: "${text}" is not an option; kernels are given with -kernel FILE, disks with -drive file=FILE,if=virtio`,
      );
    const row = ROWS.get(name);
    if (!row) throw new UserError(`${verb}: unknown option ${text}; see kcovbox boot --help-qemu`);
    if (row.effect === 'refused') throw new UserError(`${verb}: ${text} is not possible: ${row.doc}`);
    if (takesOne(row) && given.has(row))
      throw new UserError(`${verb}: ${text} is given twice: leave one of them out`);
    given.add(row);
    const value = row.value === undefined ? '' : (inline ?? words[++i]);
    if (value === undefined) throw new UserError(`${verb}: ${text} needs a value: ${row.value}`);
    if (value === '' && /\bFILE$/.test(row.value ?? ''))
      throw new UserError(`${verb}: ${text}: the path is empty`);
    if (row.effect === 'warns') options.warnings.push(`${text} is ignored: ${row.doc}`);
    read(row, options, text, value);
    if (options.wants) return options;
  }
  const needsKernel = options.bios === 'default' || options.bios === 'none';
  if (options.kernel === undefined && needsKernel && !options.loads.some(load => load.file !== undefined))
    throw new UserError(`${verb}: nothing to boot; give -kernel FILE or -bios FILE`);
  return options;
}

function read(row: OptionRow, options: QemuOptions, text: string, value: string): void {
  try {
    row.read?.(options, value);
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(`${text} ${value}: ${(error as Error).message}`);
  }
}

const EFFECTS: Readonly<Record<Effect, string>> = {
  works: 'as in QEMU',
  fits: 'the only possible value',
  ignored: 'accepted without effect',
  warns: 'accepted with a warning',
  refused: 'refused',
};

/** The table as text: one block per effect, one line per option. */
export function describeOptions(): string {
  const line = ({ name, value }: OptionRow): string => `-${name}${value === undefined ? '' : ` ${value}`}`;
  const block = (title: string, rows: readonly OptionRow[]): string =>
    [`${title}:`, ...rows.map(row => `  ${line(row).padEnd(48)} ${row.doc}`)].join('\n');
  const devices = DEVICES.map(({ name, doc }) => `  -device ${name.padEnd(39)} ${doc}`);
  return [
    ...(Object.keys(EFFECTS) as Effect[]).map(effect =>
      block(
        EFFECTS[effect],
        QEMU_OPTIONS.filter(row => row.effect === effect),
      ),
    ),
    ['devices:', ...devices].join('\n'),
    block('own options', OWN_OPTIONS),
  ].join('\n\n');
}
