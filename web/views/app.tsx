// The page: one focus (a moment, a frame, a datum, a line) that all views show and every view can
// move.
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type {
  Assets,
  Details,
  Focus,
  Measure,
  MomentRow,
  Motion,
  Opened,
  SourceLines,
  Texts,
} from '../protocol.ts';
import { dropDrawn } from '../start/kept.ts';
import { Browse, type Way } from './browse.tsx';
import { Client, Connection, STOPPED } from './client.ts';
import { Controls } from './controls.tsx';
import { awaitCapsule, tellVerdict, writeAddress } from './embedding.ts';
import { bytesOf, isText, onlyFirst, strangersText, textsOf } from './given.ts';
import { Header, verdictOf } from './header.tsx';
import { Help, showHelp } from './help.tsx';
import { differenceOf, keepLines, keptLines } from './kept.ts';
import { base, inlined, load } from './load.ts';
import { Moments } from './moments.tsx';
import { keepForOffline } from './offline.ts';
import { OWN_NAME, Own } from './own.tsx';
import { type Followed, type Place, readPlace, writePlace } from './place.ts';
import { Share } from './share.tsx';
import type { Shown } from './shown.ts';
import { Source } from './source.tsx';
import { State } from './state.tsx';
import { type OutputCommands, Terminal } from './terminal.tsx';
import { TimeAxis, type TimeCommands } from './time-axis.tsx';
import { useKeys } from './use-keys.ts';
import { type Spot, useTrail } from './use-trail.ts';

export function App() {
  const client = useMemo(() => new Client(), []);
  const [assets, setAssets] = useState<Assets>();
  const [program, setProgram] = useState<string>();
  /** The run that the address holds. */
  const [run, setRun] = useState<string>();
  const [opened, setOpened] = useState<Opened>();
  const [{ embed }] = useState(() => readPlace(location.hash));
  const [details, setDetails] = useState<Details>();
  const [focus, setFocus] = useState<Focus>();
  /** Of the last visit, until the run confirms it. */
  const [kept, setKept] = useState(() => keptLines(readPlace(location.hash)));
  const [shown, setShown] = useState<Shown | undefined>(
    () => kept && { file: kept.path, line: readPlace(location.hash).line ?? kept.line },
  );
  const [measure, setMeasure] = useState<Measure>('kcov');
  const [breakpoints, setBreakpoints] = useState<readonly string[]>([]);
  const [moments, setMoments] = useState<{ place: string; rows: readonly MomentRow[] }>();
  const [datum, setDatum] = useState<Followed>();
  const [way, setWay] = useState<Way>('files');
  const help = useRef<HTMLDialogElement>(null);
  const datumField = useRef<HTMLInputElement>(null);
  const unitField = useRef<HTMLInputElement>(null);
  const time = useRef<TimeCommands>();
  const output = useRef<OutputCommands>();
  /** Of the text that is shown. */
  const lineCount = useRef(0);
  /** How often the reader has added source texts. */
  const [added, setAdded] = useState(0);
  const [message, setMessage] = useState('');
  const [isBusy, setBusy] = useState(false);
  const busy = useRef(0);
  /** Of the programs that were asked for, the last one is opened. */
  const turn = useRef(0);
  /** Counts what the reader has opened, files on their way too. */
  const choices = useRef(0);
  /** The worker that prepares a file, while the run before it is open. */
  const beside = useRef<Connection>();
  /** Of the run that was open last: a program without a capsule runs on its kernel. */
  const dialect = useRef('openbsd');
  /** Called when the source is drawn. */
  const drawn = useRef<() => void>();

  /** Runs one request; what goes wrong is one line for the reader. */
  const doing = useCallback(async (work: () => Promise<void>): Promise<void> => {
    busy.current++;
    setBusy(true);
    try {
      await work();
    } catch (error) {
      const { message: why } = error as Error;
      if (why === STOPPED) return;
      setMessage(why);
      setKept(undefined); // no run confirms it
    } finally {
      busy.current--;
      setBusy(busy.current > 0);
    }
  }, []);

  /** The same for a request to go elsewhere: the line was about the place before. */
  const going = useCallback(
    (work: () => Promise<void>): Promise<void> => {
      setMessage('');
      return doing(work);
    },
    [doing],
  );

  const take = useCallback((now: Focus): void => {
    setFocus(now);
    const frame = now.frames[now.level];
    if (frame && frame.line > 0) setShown({ file: frame.file, line: frame.line });
  }, []);

  /** From now on the datum is the one that has this name here. */
  const followHere = useCallback(
    async (what: string, { unit, hart, level }: Pick<Focus, 'unit' | 'hart' | 'level'>) => {
      await client.ask('follow', { what });
      setDatum({ what, unit, hart, level });
    },
    [client],
  );

  /** Moment, line and datum of an address. */
  const goTo = useCallback(
    async ({ unit, file, line, datum: what, named }: Place, { first, last }: Opened) => {
      const at = (to: number | undefined) =>
        to === undefined ? {} : { unit: Math.max(first, Math.min(to, last)) };
      // Moment and line are shown, also where the datum is none.
      const tryToFollow = async (now: Focus): Promise<void> => {
        if (what === undefined) return;
        await followHere(what, now).catch((error: Error) => {
          if (error.message === STOPPED) throw error;
          setMessage(error.message);
        });
      };
      const isElsewhere = named !== undefined && named !== unit;
      if (what !== undefined && isElsewhere) await tryToFollow(await client.ask('seek', at(named)));
      const now = await client.ask('seek', at(unit));
      take(now);
      if (file !== undefined) setShown({ file, line: line ?? 1 });
      if (!isElsewhere) await tryToFollow(now);
    },
    [client, take, followHere],
  );

  const returnTo = async ({ unit, hart, level, shown: line, datum: followed }: Spot): Promise<void> => {
    if (followed && followed !== datum) {
      const { what, ...named } = followed;
      await client.ask('seek', { unit: named.unit, hart: named.hart });
      await client.ask('look', { level: named.level });
      await client.ask('follow', { what });
    }
    await client.ask('seek', { unit, hart });
    const now = await client.ask('look', { level });
    // All at once, so that nothing but this place is noted.
    setDatum(followed);
    setFocus(now);
    setShown(line);
  };

  /** The run of what the worker has prepared. */
  const show = useCallback(
    (at: Place, preparing: Promise<unknown> = Promise.resolve()) =>
      doing(async () => {
        setMessage('');
        setMoments(undefined);
        setBreakpoints([]);
        setDatum(undefined);
        const now = await preparing
          .then(() => client.ask('open', {}))
          .catch((error: Error) => {
            // A newer request has its own run.
            if (error.message !== STOPPED) {
              setOpened(undefined);
              setFocus(undefined);
            }
            throw error;
          });
        setDetails(undefined);
        setFocus(undefined);
        setOpened(now);
        if (now.dialect !== '') dialect.current = now.dialect;
        tellVerdict(verdictOf(now));
        setMeasure(firstMeasure(now));
        setShown(at.file === undefined ? undefined : { file: at.file, line: at.line ?? 1 });
        // The reader sees the line before the machine goes to the moment.
        if (at.file !== undefined)
          await new Promise<void>(done => {
            drawn.current = done;
          });
        await goTo(at, now);
        setDetails(await client.ask('details', {}));
        void keepForOffline(); // a browser may never start a service worker
      }),
    [client, doing, goTo],
  );

  const open = useCallback(
    async (bytes: Uint8Array | string, name: string, all: Assets, at: Place, texts: Texts = []) => {
      client.restart();
      const what = { capsule: bytes, name, assets: all, texts, dialect: dialect.current };
      await show(at, client.ask('prepare', what));
    },
    [client, show],
  );

  const openProgram = useCallback(
    (id: string, all: Assets, at: Place = {}) =>
      doing(async () => {
        const named = all.programs.find(one => one.id === id);
        const row = named ?? all.programs[0]!;
        const own = ++turn.current;
        choices.current++;
        beside.current?.end();
        beside.current = undefined;
        setFocus(undefined); // the address keeps what it asks for until its run is there
        setProgram(row.id);
        setRun(undefined);
        setKept(now => (now?.program === row.id ? now : undefined));
        const bytes = await load(row.capsule);
        if (own !== turn.current) return;
        await open(bytes, row.title, all, named ? at : {});
        if (!named) setMessage(`this page has no program ${id}, and shows another`);
      }),
    [doing, open],
  );

  /** What comes next is no program of the menu, but the run of the address or a file. */
  const leaveMenu = useCallback((text?: string): void => {
    turn.current++;
    choices.current++;
    beside.current?.end();
    beside.current = undefined;
    setFocus(undefined);
    setProgram(undefined);
    setRun(text);
    setKept(undefined);
  }, []);

  const openRun = useCallback(
    (text: string, all: Assets, at: Place) =>
      doing(async () => {
        leaveMenu(text);
        await open(text, 'of the address', all, at);
      }),
    [doing, open, leaveMenu],
  );

  const openPlace = useCallback(
    (place: Place, all: Assets) =>
      place.run === undefined
        ? openProgram(
            place.program ?? all.first.program,
            all,
            place.program === undefined ? all.first : place,
          )
        : openRun(place.run, all, place),
    [openProgram, openRun],
  );

  useEffect(() => {
    void doing(async () => {
      const all = JSON.parse(new TextDecoder().decode(await load('assets.packed'))) as Assets;
      setAssets(all);
      const place = readPlace(location.hash);
      if (place.wait === undefined) await openPlace(place, all);
      else if (parent === window)
        throw new Error('the run of this address is in the page around its frame: open that page, or a file');
      else
        awaitCapsule(sent => {
          if (sent.kcovbox === 'capsule') void open(sent.bytes, sent.name, all, place);
          else setMessage(sent.text);
        });
    });
  }, [doing, open, openPlace]);

  const place: Place = {
    ...{ embed, program, run, datum: datum?.what, named: datum?.unit },
    ...{ unit: focus?.unit, file: shown?.file, line: shown?.line },
  };
  useEffect(() => {
    if (!kept) dropDrawn();
  }, [kept]);

  useEffect(() => {
    if (!focus) return;
    // A run of a file has no address.
    const hash = (program ?? run) ? writePlace(place) : '';
    writeAddress('replaceState', hash || base.replace(/#.*/, ''));
  }, [program, run, focus, shown, datum]);

  useEffect(() => {
    // Another address for this page: a link, or a person who writes one.
    const changed = () => {
      const next = readPlace(location.hash);
      if (!assets) return;
      if (opened && next.run === run && (next.run ?? next.program) === (run ?? program))
        void going(() => goTo(next, opened));
      else void openPlace(next, assets);
    };
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  });

  const seek = (unit?: number, hart?: number) =>
    going(async () =>
      take(
        await client.ask('seek', {
          ...(unit !== undefined && { unit }),
          ...(hart !== undefined && { hart }),
        }),
      ),
    );
  const look = (args: { hart?: number; level?: number }) =>
    going(async () => take(await client.ask('look', args)));
  const move = (motion: Motion) => going(async () => take(await client.ask('move', motion)));
  const toggle = (place: string) =>
    doing(async () => {
      const places = breakpoints.includes(place)
        ? breakpoints.filter(one => one !== place)
        : [...breakpoints, place];
      const refused = await client.ask('breakpoints', { places });
      setBreakpoints(places.filter(one => !refused.includes(one)));
      if (refused.includes(place)) setMessage(`there is no code at ${place}`);
    });
  const ask = (place: string) =>
    doing(async () => setMoments({ place, rows: await client.ask('moments', { place }) }));
  const goToWrite = async (what: string, direction: 'forward' | 'back'): Promise<void> => {
    const write = await client.ask('write', { direction });
    const [verb, side] = direction === 'back' ? ['was last', 'before'] : ['is next', 'behind'];
    if (!write) return setMessage(`nothing writes ${what} ${side} this moment`);
    take(await client.ask('seek', { unit: write.unit, hart: write.hart }));
    setMessage(`${what} ${verb} written here: ${write.place}`);
  };
  const follow = (what: string, thenGo = false) =>
    doing(async () => {
      setMessage('');
      if (focus) await followHere(what, focus);
      if (thenGo) await goToWrite(what, 'back');
    });
  const write = (direction: 'forward' | 'back') =>
    doing(async () => {
      if (datum === undefined) setMessage('choose a datum first: a variable, a register or a word (d)');
      else await goToWrite(datum.what, direction);
    });
  const line = shown && `${shown.file}:${shown.line}`;
  const goLine = (by: 1 | -1): void => {
    const next = (shown?.line ?? 0) + by;
    if (shown && next >= 1 && next <= lineCount.current) setShown({ file: shown.file, line: next });
  };
  const goMoment = (by: 1 | -1) =>
    going(async () => {
      // The line of the list, which stays while the moments change.
      const place = moments?.place ?? line;
      if (place === undefined || !focus) return;
      const rows = moments?.rows ?? (await client.ask('moments', { place }));
      setMoments({ place, rows });
      const next =
        by > 0 ? rows.find(({ unit }) => unit > focus.unit) : rows.findLast(({ unit }) => unit < focus.unit);
      if (next) take(await client.ask('seek', { ...next }));
      else setMessage(`${place} does not run ${by > 0 ? 'behind' : 'before'} this moment`);
    });
  const trail = useTrail(opened, focus, shown, datum);
  const goBack = (by: 1 | -1) =>
    going(async () => {
      const spot = trail(by);
      if (spot) await returnTo(spot);
      else setMessage(by < 0 ? 'this is where you began' : 'this is the last place at which you were');
    });
  const goFrame = (by: 1 | -1): void => {
    const level = (focus?.level ?? 0) + by;
    if (focus?.frames[level]) void look({ level });
  };
  useKeys(
    motion => void move(motion),
    {
      begin: () => void seek(),
      end: () => opened && void seek(opened.last),
      'event-before': () => time.current?.event(-1),
      'event-next': () => time.current?.event(1),
      'output-before': () => output.current?.line(-1),
      'output-next': () => output.current?.line(1),
      back: () => void goBack(-1),
      again: () => void goBack(1),
      'line-before': () => goLine(-1),
      'line-next': () => goLine(1),
      breakpoint: () => line && void toggle(line),
      moments: () => line && void ask(line),
      'moment-before': () => void goMoment(-1),
      'moment-next': () => void goMoment(1),
      caller: () => goFrame(1),
      callee: () => goFrame(-1),
      wrote: () => void write('back'),
      writes: () => void write('forward'),
      datum: () => datumField.current?.select(),
      unit: () => unitField.current?.select(),
      files: () => setWay('files'),
      functions: () => setWay('functions'),
      calls: () => setWay('calls'),
      'zoom-in': () => time.current?.zoom(0.5),
      'zoom-out': () => time.current?.zoom(2),
      'zoom-all': () => time.current?.zoom(0),
      help: () => showHelp(help.current),
    },
    opened !== undefined,
  );
  const linesCame = (path: string, answer: SourceLines): void => {
    if (!assets || !opened || measure !== firstMeasure(opened)) return;
    const difference = kept?.path === path ? differenceOf(kept, answer) : undefined;
    if (difference) setMessage(difference);
    setKept(undefined); // the run is there
    keepLines(assets, path, answer);
  };
  const addTexts = (files: readonly File[]) =>
    doing(async () => {
      if (!files[0]) return;
      // Of a run that is on its way, if there is one.
      const run = beside.current ?? (opened && client);
      if (!run) return setMessage(`${files[0].name} is a source text: open the run of its program, too`);
      setMessage('');
      setMessage(strangersText(await run.ask('sources', { texts: await textsOf(files) })));
      setAdded(count => count + 1);
    });
  const openFiles = (files: readonly File[]) => {
    const runs = files.filter(file => !isText(file));
    const texts = files.filter(isText);
    return runs[0] ? openRuns(runs[0], runs.length - 1, texts) : addTexts(texts);
  };
  /** The run that is open stays until the file is known to have one. */
  const openRuns = (file: File, others: number, sources: readonly File[]) =>
    doing(async () => {
      choices.current++;
      beside.current?.end();
      const next = new Connection();
      beside.current = next;
      try {
        if (!assets) throw new Error(`the page is still being loaded: open ${file.name} again`);
        const capsule = await bytesOf(file);
        const texts = await textsOf(sources);
        const { current: kernel } = dialect;
        await next.ask('prepare', { capsule, name: file.name, assets, texts, dialect: kernel });
      } catch (error) {
        next.end();
        choices.current--; // nothing was opened
        if (beside.current !== next) return;
        beside.current = undefined; // texts are of the run that is open
        setMessage((error as Error).message);
        return;
      }
      if (beside.current !== next) return; // something newer was asked for
      beside.current = undefined;
      leaveMenu();
      client.replace(next);
      await show({});
      // Why the first one is not shown is more to the point.
      const why = others > 0 ? onlyFirst(file, others) : strangersText(await client.ask('strangers', {}));
      if (why !== '') setMessage(now => (now === '' ? why : now));
    });

  const openOwn = (bytes: Uint8Array, source: string) =>
    doing(async () => {
      leaveMenu();
      const text = new TextEncoder().encode(source);
      if (assets) await open(bytes, OWN_NAME, assets, {}, [{ name: OWN_NAME, text }]);
    });

  useEffect(() => {
    // Variables of the kernel are in a part of its image that is loaded now.
    if (focus && !focus.variables)
      void doing(async () => {
        const whole = await client.ask('state', {});
        setFocus(now => (now === focus ? whole : now));
      });
  }, [client, doing, focus]);

  useEffect(() => {
    const over = (event: DragEvent) => event.preventDefault();
    const dropped = (event: DragEvent) => {
      event.preventDefault();
      void openFiles([...(event.dataTransfer?.files ?? [])]);
    };
    addEventListener('dragover', over);
    addEventListener('drop', dropped);
    return () => {
      removeEventListener('dragover', over);
      removeEventListener('drop', dropped);
    };
  });

  return (
    <div class={embed ? 'page embedded' : 'page'}>
      <Header
        assets={assets}
        program={program}
        opened={opened}
        isBusy={isBusy}
        isKept={kept !== undefined && !opened}
        whole={
          embed && (program ?? run)
            ? base.replace(/#.*/, '') + writePlace({ ...place, embed: undefined })
            : undefined
        }
        onProgram={id => {
          writeAddress('pushState', writePlace({ embed, program: id })); // the browser's way back
          if (assets) void openProgram(id, assets);
        }}
        onFiles={files => void openFiles(files)}
      >
        {!embed && !inlined && <a href="labs.html">Labs</a>}
        {opened && (
          <Share client={client} name={opened.title} place={{ ...place, program: undefined }} doing={doing} />
        )}
        {assets?.compiler !== undefined && (
          <Own
            compiler={new URL(assets.compiler, base)}
            choices={choices}
            onCapsule={(bytes, text) => void openOwn(bytes, text)}
          />
        )}
      </Header>
      <p class="message" role="status">
        {message}
      </p>
      <p class="hidden" aria-live="polite">
        {focus && sentenceOf(focus)}
      </p>
      <Help dialog={help} />
      {opened || kept ? (
        <main>
          <section class="files" aria-label="kernel">
            {opened && details && (
              <Browse
                way={way}
                onWay={setWay}
                client={client}
                opened={opened}
                measure={measure}
                shown={shown}
                onMeasure={setMeasure}
                onShow={setShown}
                onSeek={seek}
              />
            )}
          </section>
          <section class="middle" aria-label="source">
            {opened && (
              <Controls
                opened={opened}
                focus={focus}
                field={unitField}
                onMove={move}
                onSeek={seek}
                onHelp={() => showHelp(help.current)}
              />
            )}
            <Source
              client={client}
              opened={opened}
              kept={kept}
              measure={measure}
              added={added}
              focus={focus}
              shown={shown}
              breakpoints={breakpoints}
              lineCount={lineCount}
              onToggle={toggle}
              onLine={ask}
              onLines={linesCame}
              onDrawn={() => drawn.current?.()}
            />
            {moments && focus && (
              <Moments
                place={moments.place}
                rows={moments.rows}
                focus={focus}
                onSeek={seek}
                onClose={() => setMoments(undefined)}
              />
            )}
          </section>
          <aside class="state" aria-label="state">
            {focus && (
              <State
                client={client}
                focus={focus}
                datum={datum?.what}
                field={datumField}
                onLook={look}
                onFollow={follow}
                onWrite={write}
                onSeek={seek}
                onShow={setShown}
              />
            )}
          </aside>
          <div class="below">
            {opened && details && focus && (
              <TimeAxis
                opened={opened}
                details={details}
                focus={focus}
                moments={moments?.rows ?? []}
                commands={time}
                onSeek={seek}
              />
            )}
            {opened && details && focus && (
              <Terminal opened={opened} focus={focus} commands={output} onSeek={seek} />
            )}
          </div>
        </main>
      ) : (
        <p class="waiting">{message === '' ? 'The machine is being loaded.' : ''}</p>
      )}
    </div>
  );
}

/** What a run shows first: programs without kcov have no records. */
const firstMeasure = ({ hasPoints }: Opened): Measure => (hasPoints ? 'kcov' : 'all');

/** The focus for people who hear the page. */
function sentenceOf({ unit, frames, level, reason }: Focus): string {
  const frame = frames[level];
  const where = frame ? `${frame.function}, ${frame.file} line ${frame.line}` : 'nowhere';
  return `unit ${unit}: ${where}${reason === '' ? '' : `; ${reason}`}`;
}
