// The page of the labs: the text, the student's files in an editor, and the checks. It judges as
// `kcovbox lab test` does: the same modules in a worker, and the compiler of `kcovbox serve`.
import { render } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { bytesOf } from '../../grade/judge/lab.ts';
import { needsTools, type PortableLab, type Texts } from '../../grade/judge/portable.ts';
import type { CheckScore, LabScore } from '../../grade/schema.ts';
import { pack, writeZip } from '../../run/capsule/zip.ts';
import { base, load } from '../views/load.ts';
import { Editor } from './editor.tsx';
import { Judging } from './judging.ts';
import './labs.css';
import { Markdown } from './markdown.tsx';
import type { Labs } from './messages.ts';
import { Check } from './verdict.tsx';
import { keepWork, keptWork } from './work.ts';

const judging = new Judging();
/** `#lab=NN-NAME`, of which the number is enough. */
const wantedLab = (): string => new URLSearchParams(location.hash.slice(1)).get('lab') ?? '';

function App({ labs, kcovbox, builder }: Labs) {
  const [name, setName] = useState(wantedLab);
  useEffect(() => {
    const changed = () => setName(wantedLab());
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  const lab =
    labs.find(one => one.name === name || Number(one.name.slice(0, 2)) === Number(name)) ?? labs[0]!;
  return (
    <div class="labs">
      <header>
        <h1>kcovbox labs</h1>
        <label>
          <span class="hidden">lab</span>
          <select
            value={lab.name}
            onChange={event => {
              location.hash = `lab=${event.currentTarget.value}`;
            }}
          >
            {labs.map(({ name: one, manifest }) => (
              <option key={one} value={one}>
                {`${Number(one.slice(0, 2))} ${manifest.title}`}
              </option>
            ))}
          </select>
        </label>
        <a href="index.html">the page of runs</a>
      </header>
      <LabView key={lab.name} lab={lab} kcovbox={kcovbox} builder={builder && new URL(builder, base).href} />
    </div>
  );
}

interface Outcome {
  readonly checks: ReadonlyMap<string, CheckScore>;
  readonly runs: ReadonlyMap<string, string>;
  readonly score?: LabScore;
}
const NOTHING: Outcome = { checks: new Map(), runs: new Map() };

function LabView({
  lab,
  kcovbox,
  builder,
}: {
  readonly lab: PortableLab;
  readonly kcovbox: string;
  readonly builder: string | undefined;
}) {
  const [files, setFiles] = useState<Texts>(() => keptWork(lab));
  const [open, setOpen] = useState(lab.manifest.files[0]!.name);
  const [outcome, setOutcome] = useState(NOTHING);
  const [message, setMessage] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [shown, setShown] = useState<string>();
  const { checks, minutes, learns } = lab.manifest;
  const possible = checks.filter(check => builder !== undefined || !needsTools(check));
  const own = lab.manifest.files.map(file => file.name);

  const write = (name: string, text: string): void => {
    const now = { ...files, [name]: text };
    setFiles(now);
    keepWork(lab, now);
  };
  const test = async (): Promise<void> => {
    setBusy(true);
    setMessage('');
    setShown(undefined);
    setOutcome(NOTHING);
    const wish = { kcovbox, lab, files, builder, only: possible.map(({ id }) => id) };
    try {
      await judging.start(wish, news =>
        setOutcome(({ checks: decided, runs }) => {
          if (news.kind !== 'decided')
            return { checks: decided, runs, ...('score' in news && { score: news.score }) };
          const { id } = news.check;
          const address =
            news.capsule && URL.createObjectURL(new Blob([news.capsule as Uint8Array<ArrayBuffer>]));
          return {
            checks: new Map([...decided, [id, news.check]]),
            runs: new Map([...runs, ...(address === undefined ? [] : [[id, address] as const])]),
          };
        }),
      );
    } catch (error) {
      setMessage((error as Error).message);
    } finally {
      setBusy(false);
    }
  };
  const submit = (): void => {
    const entries = [...own].sort().map(name => pack(name, bytesOf(files[name] ?? '')));
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([writeZip(entries) as Uint8Array<ArrayBuffer>]));
    link.download = `${lab.name}.zip`;
    link.click();
    URL.revokeObjectURL(link.href);
  };
  const { score } = outcome;
  return (
    <main>
      <article class="text" aria-label="text of the lab">
        <p class="facts">
          About {minutes} minutes. Afterwards you can {learns.join('; ')}. In this page,{' '}
          <code>kcovbox demo</code> is the first program of the <a href="index.html">page of runs</a>,{' '}
          <code>kcovbox run</code> is its button <i>Write C</i>, <code>kcovbox lab test</code> is{' '}
          <i>Run the checks</i>, and <code>kcovbox lab submit</code> is <i>Save to hand in</i>.
        </p>
        <Markdown text={lab.text} />
      </article>
      <section class="work" aria-label="your files">
        <nav aria-label="files">
          {own.map(name => (
            <button type="button" key={name} aria-pressed={name === open} onClick={() => setOpen(name)}>
              {name}
            </button>
          ))}
          {Object.keys(lab.tests).map(name => (
            <button
              type="button"
              class="given"
              key={name}
              aria-pressed={name === open}
              title="of the lab, to read"
              onClick={() => setOpen(name)}
            >
              {name}
            </button>
          ))}
        </nav>
        <Editor
          key={open}
          name={open}
          text={files[open] ?? lab.tests[open] ?? ''}
          onText={own.includes(open) ? text => write(open, text) : undefined}
        />
        <div class="row">
          <button
            type="button"
            class="main"
            disabled={isBusy || possible.length === 0}
            onClick={() => void test()}
          >
            {isBusy ? 'Running' : 'Run the checks'}
          </button>
          <button type="button" onClick={submit}>
            Save to hand in
          </button>
          <button
            type="button"
            onClick={() => {
              if (confirm('Replace your files by those that the lab began with?')) {
                setFiles(lab.starter);
                keepWork(lab, lab.starter);
                setOpen('');
                setTimeout(() => setOpen(own[0]!));
              }
            }}
          >
            Start again
          </button>
          {score && (
            <output class="total">
              <b class="score">{`${score.points} of ${score.of - laterOf(score)} points`}</b>{' '}
              <code class="hash">{score.sha256}</code>
            </output>
          )}
        </div>
        <p class="message" role="status">
          {message}
        </p>
        {builder === undefined && (
          <p class="facts">
            Checks that compile C need a compiler: <code>kcovbox serve</code> shows this page with one. Here{' '}
            {possible.length === 0
              ? 'none of the checks run'
              : `these run: ${possible.map(({ id }) => id).join(', ')}`}
            .
          </p>
        )}
        <ol class="checks">
          {checks.map(check => (
            <Check
              key={check.id}
              check={check}
              score={outcome.checks.get(check.id)}
              onRun={outcome.runs.has(check.id) ? () => setShown(check.id) : undefined}
            />
          ))}
        </ol>
        {shown !== undefined && (
          <RunOf
            key={outcome.runs.get(shown)}
            src={outcome.runs.get(shown)!}
            why={outcome.checks.get(shown)!.why}
          />
        )}
      </section>
    </main>
  );
}

/** Points of checks that the teacher judges. */
const laterOf = ({ checks }: LabScore): number =>
  checks.filter(({ status }) => status === 'skipped').reduce((sum, { of }) => sum + of, 0);

/** A recorded run, in a frame with the page of runs, at the line of the kernel that `why` names. */
function RunOf({ src, why }: { readonly src: string; readonly why: string }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const run = document.createElement('kcovbox-run');
    run.setAttribute('src', src);
    const [at] = /\b[\w-]+\/[\w/.-]+\.c:\d+/.exec(why) ?? [];
    if (at !== undefined) run.setAttribute('line', `kernel/${at}`);
    run.setAttribute('autostart', '');
    place.current!.replaceChildren(run);
    run.scrollIntoView();
  }, [src, why]);
  return <div class="run" ref={place} />;
}

const labs = JSON.parse(new TextDecoder().decode(await load('labs.packed'))) as Labs;
render(<App {...labs} />, document.getElementById('app')!);
