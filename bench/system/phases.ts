// The system workloads: a kernel boots, and Debian's static busybox works in user mode. Their code
// is wide and often cold, as in kernels, shells and fuzzed programs; loops (workloads.ts) are the
// opposite. The guest prints the marks of measure() itself, and the digest of what the work wrote
// as its check value.

/** The kernel that a system workload boots. */
export type SystemKernel = 'own' | 'debian';

export interface SystemWork {
  readonly kernel: SystemKernel;
  /** Debian's programs beside busybox: those that it starts, below `usr/bin`. */
  readonly programs?: readonly string[];
  /** Before the first mark; may write to /tmp. */
  readonly prepare?: string;
  /** Between the marks; its standard output is the check value. Absent: the boot is measured. */
  readonly script?: string;
  /** In place of a script, the user's own program; its exit status is the check value. */
  readonly own?: OwnProgram;
}

/** A boot is measured from power-on, as it has no work between two marks. */
export const isBoot = ({ script, own }: SystemWork): boolean => script === undefined && own === undefined;

/** Goals of a system's ratio to QEMU, and of their geometric mean. */
export const SYSTEM_GOALS = { must: 1.2, aim: 2 } as const;

export interface OwnProgram {
  /** As the user calls it. */
  readonly name: string;
  /** A static program for Linux on RISC-V. */
  readonly path: string;
  readonly args: readonly string[];
}

/** A row, apart from the fields that every workload has. */
export interface Phase {
  readonly name: string;
  readonly title: string;
  readonly system: SystemWork;
  readonly must?: number;
  readonly aim?: number;
}

const own = (name: string, title: string, script: string, more: Partial<SystemWork> = {}): Phase => ({
  name,
  title,
  system: { kernel: 'own', script, ...more },
  ...SYSTEM_GOALS,
});

const lines = (count: number): string =>
  `awk 'BEGIN { for (i = 0; i < ${count}; i++) print (i * 7919) % 65537, i, "line of text" }'`;
const FILES =
  'mkdir /tmp/d; cd /tmp/d; for i in 0 1 2 3 4 5 6 7 8 9; do mkdir $i; cd $i; for j in 0 1 2 3 4 5 6 7 8 9; do ' +
  'for k in 0 1 2 3 4; do : > f$j$k; done; done; cd ..; done; cd /';

/** Objects, dictionaries, strings, sorting and JSON, as in a script of every day. */
const python = (rounds: number): string => `import json
class Word:
    def __init__(self, text):
        self.text, self.count = text, 0
    def seen(self):
        self.count += 1
        return self
words, x = {}, 1
for i in range(${rounds}):
    x = (x * 1103515245 + 12345) % 2147483648
    text = "w%d" % (x % 997)
    words.setdefault(text, Word(text)).seen()
ranked = sorted(words.values(), key=lambda w: (-w.count, w.text))
again = json.loads(json.dumps([{"text": w.text, "count": w.count} for w in ranked]))
print(len(again), sum(w["count"] for w in again), again[:3])`;

/** A table, an index, a join of 15 rows with each, and groups. */
const sql = (rows: number, groups: number): string => `
CREATE TABLE a (n INTEGER PRIMARY KEY, k INTEGER, t TEXT);
WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < ${rows})
  INSERT INTO a SELECT n, (n * 7919) % ${groups}, 'text ' || n FROM c;
CREATE INDEX i ON a (k);
SELECT a.k, count(*), sum(length(b.t)) FROM a JOIN a AS b ON b.k = a.k
  GROUP BY a.k ORDER BY 3 DESC, 1 LIMIT 5;`;

/** The phases, with so many times the work between the marks; boots stay as they are. */
export function phases(scale = 1): readonly Phase[] {
  const of = (count: number): number => count * scale;
  const title = (count: number): string => of(count).toLocaleString('en-US');
  return [
    own(
      'ash',
      `shell: ${title(50_000)} additions in ash`,
      `i=0; while [ $i -lt ${of(50_000)} ]; do i=$((i+1)); done; echo $i`,
    ),
    own(
      'awk',
      `awk: ${title(50_000)} rounds of an interpreter`,
      `awk 'BEGIN { for (i = 0; i < ${of(50_000)}; i++) ` +
        `{ s += i % 7; n[substr("abcdef", i % 6 + 1, 1)]++ } print s, n["a"] }'`,
    ),
    own('sort', `sort of ${title(60_000)} lines`, 'sort /tmp/a | tail -n 3', {
      prepare: `${lines(of(60_000))} > /tmp/a`,
    }),
    own('gzip', `gzip of ${of(18) / 10} MB`, 'gzip -c /tmp/a | gunzip -c | md5sum', {
      prepare: `${lines(of(60_000))} > /tmp/a`,
    }),
    own(
      'find',
      `find: 500 files, ${title(12)} times`,
      `i=0; while [ $i -lt ${of(12)} ]; do find /tmp/d -name "*7" | wc -l; i=$((i+1)); done`,
      { prepare: FILES },
    ),
    own(
      'fork',
      `fork and exec: ${title(250)} programs`,
      `i=0; while [ $i -lt ${of(250)} ]; do /bin/true; i=$((i+1)); done; echo $i`,
    ),
    own(
      'python',
      `Python 3.13: objects, dictionaries, JSON; ${title(40_000)} rounds`,
      `python3.13 -S -c '${python(of(40_000))}'`,
      { programs: ['python3.13'], prepare: `python3.13 -S -c "import json"` },
    ),
    own(
      'sqlite',
      `SQLite: ${title(15_000)} rows, an index, a join`,
      `sqlite3 :memory: "${sql(of(15_000), of(1009))}"`,
      { programs: ['sqlite3'] },
    ),
    { name: 'boot', title: 'own kernel to its first program, Node included', system: { kernel: 'own' } },
    {
      name: 'linux',
      title: "Debian's Linux to its first program, Node included",
      system: { kernel: 'debian' },
      must: 1,
      aim: 1.5,
    },
  ];
}

/** A program of the user's as the only work of the guest kernel. */
export const phaseOf = (program: OwnProgram): Phase => ({
  name: 'program',
  title: [program.name, ...program.args].join(' '),
  system: { kernel: 'own', own: program },
});
