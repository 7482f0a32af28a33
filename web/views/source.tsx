// The source of one file: states of its lines, breakpoints, and the line of the moment.
import { EditorState, RangeSet, RangeSetBuilder, StateEffect, StateField } from '@codemirror/state';
import {
  Decoration,
  type DecorationSet,
  EditorView,
  GutterMarker,
  gutter,
  lineNumbers,
} from '@codemirror/view';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Focus, Lines, Measure, Opened, SourceLines } from '../protocol.ts';
import { dropDrawn, type Kept } from '../start/kept.ts';
import { type Client, STOPPED } from './client.ts';
import { addLanguage, colours } from './language.ts';
import type { Shown } from './shown.ts';

interface Marks {
  readonly lines: Lines;
  readonly breakpoints: ReadonlySet<number>;
  /** The line of the moment, and the one that is looked at; 0: not in this file. */
  readonly now: number;
  readonly shown: number;
}

const NO_MARKS: Marks = { lines: [], breakpoints: new Set(), now: 0, shown: 0 };
const setMarks = StateEffect.define<Marks>();
const STATE_TEXT = { covered: 'ran', partly: 'ran in part', uncovered: 'did not run', unknown: 'unknown' };

const marksField = StateField.define<Marks>({
  create: () => NO_MARKS,
  update: (marks, transaction) =>
    transaction.effects.reduce((now, effect) => (effect.is(setMarks) ? effect.value : now), marks),
  provide: field => EditorView.decorations.compute([field], state => decorations(state, state.field(field))),
});

function decorations(state: EditorState, { lines, now, shown }: Marks): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>();
  const states = new Map(lines.map(([line, verdict]) => [line, verdict]));
  for (let n = 1; n <= state.doc.lines; n++) {
    const verdict = states.get(n);
    const classes = [verdict && `l-${verdict}`, n === now && 'l-now', n === shown && 'l-shown'].filter(
      Boolean,
    );
    if (classes.length > 0)
      builder.add(
        state.doc.line(n).from,
        state.doc.line(n).from,
        Decoration.line({ class: classes.join(' ') }),
      );
  }
  return builder.finish();
}

class Hits extends GutterMarker {
  readonly text: string;
  readonly title: string;
  constructor(text: string, title: string) {
    super();
    this.text = text;
    this.title = title;
  }
  override eq(other: Hits): boolean {
    return other.text === this.text && other.title === this.title;
  }
  override toDOM(): Node {
    const span = document.createElement('span');
    span.textContent = this.text;
    span.title = this.title;
    return span;
  }
}

class Dot extends GutterMarker {
  override toDOM(): Node {
    return document.createTextNode('●');
  }
}
const DOT = new Dot();

interface Content {
  readonly path: string;
  readonly text: string | undefined;
  readonly note?: string | undefined;
  readonly lines: Lines;
  /** Undefined: of the last visit. */
  readonly of?: Opened;
}

/** A click beside a line is one on the line. */
const onClick = (act: (line: number) => void) => ({
  click(view: EditorView, block: { readonly from: number }) {
    act(view.state.doc.lineAt(block.from).number);
    return true;
  },
});

const hitsGutter = (act: (line: number) => void) =>
  gutter({
    class: 'g-hits',
    domEventHandlers: onClick(act),
    markers: view => {
      const { lines } = view.state.field(marksField);
      const builder = new RangeSetBuilder<GutterMarker>();
      for (const [line, state, hits] of [...lines].sort(([a], [b]) => a - b)) {
        if (line > view.state.doc.lines) continue;
        const at = view.state.doc.line(line).from;
        const text =
          state === 'uncovered'
            ? '0'
            : hits > 0
              ? hits.toLocaleString('en-US')
              : state === 'unknown'
                ? '?'
                : '✓';
        builder.add(at, at, new Hits(text, STATE_TEXT[state]));
      }
      return builder.finish();
    },
  });

const breakGutter = (toggle: (line: number) => void) =>
  gutter({
    class: 'g-break',
    markers: view => {
      const { breakpoints } = view.state.field(marksField);
      const places = [...breakpoints].filter(line => line <= view.state.doc.lines).sort((a, b) => a - b);
      return RangeSet.of(places.map(line => DOT.range(view.state.doc.line(line).from)));
    },
    initialSpacer: () => DOT,
    domEventHandlers: {
      mousedown(view, block) {
        toggle(view.state.doc.lineAt(block.from).number);
        return true;
      },
    },
  });

export function Source({
  client,
  opened,
  kept,
  measure,
  added,
  focus,
  shown,
  breakpoints,
  lineCount,
  onToggle,
  onLine,
  onLines,
  onDrawn,
}: {
  client: Client;
  opened: Opened | undefined;
  /** To be shown while the run is not there. */
  kept: Kept | undefined;
  measure: Measure;
  /** Changes when the reader adds source texts. */
  added: number;
  focus: Focus | undefined;
  shown: Shown | undefined;
  breakpoints: readonly string[];
  /** Is set to the lines of the text. */
  lineCount: { current: number };
  onToggle: (place: string) => void;
  onLine: (place: string) => void;
  /** When the lines of a file have come. */
  onLines: (path: string, answer: SourceLines) => void;
  /** When the states of lines are in the page, or there is no text. */
  onDrawn: () => void;
}) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>();
  const withLanguage = useRef<EditorView>();
  const [came, setCame] = useState<Content | undefined>(kept);
  const path = shown?.file ?? '';
  // A text is not shown below the name of another one, nor the lines of another run.
  const isCurrent = came?.path === path && (!came.of || came.of === opened);
  const content = isCurrent ? came : undefined;
  const acts = useRef({ path, onToggle, onLine, onLines });
  acts.current = { path, onToggle, onLine, onLines };

  useEffect(() => {
    if (path === '' || !opened) return;
    let isOld = false;
    void client.ask('lines', { measure, path }).then(
      answer => {
        if (isOld) return;
        setCame({ path, of: opened, ...answer });
        acts.current.onLines(path, answer);
      },
      ({ message: note }: Error) => {
        if (!isOld && note !== STOPPED) setCame({ path, of: opened, text: undefined, note, lines: [] });
      },
    );
    return () => {
      isOld = true;
    };
  }, [client, opened, measure, path, added]);

  const text = content?.text;
  useEffect(() => {
    if (text === undefined || !host.current) return;
    const placeOf = (line: number): string => `${acts.current.path}:${line}`;
    const made = new EditorView({
      parent: host.current,
      state: EditorState.create({
        doc: text,
        extensions: [
          EditorState.readOnly.of(true),
          EditorView.editable.of(false),
          EditorView.contentAttributes.of({ tabindex: '0', 'aria-label': `source of ${acts.current.path}` }),
          breakGutter(line => acts.current.onToggle(placeOf(line))),
          lineNumbers({ domEventHandlers: onClick(line => acts.current.onLine(placeOf(line))) }),
          marksField,
          hitsGutter(line => acts.current.onLine(placeOf(line))),
          colours,
          EditorView.domEventHandlers({
            click(event, editor) {
              const at = editor.posAtCoords(event);
              if (at === null || !editor.state.selection.main.empty) return;
              acts.current.onLine(placeOf(editor.state.doc.lineAt(at).number));
            },
          }),
        ],
      }),
    });
    view.current = made;
    lineCount.current = made.state.doc.lines;
    // The line stays in the middle while other views come beside it.
    const resized = new ResizeObserver(() => {
      const { shown: line } = made.state.field(marksField);
      if (line >= 1 && line <= made.state.doc.lines) made.dispatch({ effects: toLine(made, line) });
    });
    resized.observe(host.current);
    return () => {
      resized.disconnect();
      made.destroy();
      view.current = undefined;
    };
  }, [text]);

  const frame = focus?.frames[focus.level];
  const now = frame?.file === path ? frame.line : 0;
  const line = shown?.line ?? 0;
  useEffect(() => {
    const editor = view.current;
    if (!content) return;
    if (!editor) return onDrawn();
    const own = breakpoints.filter(place => place.startsWith(`${path}:`));
    const marks = {
      lines: content.lines,
      breakpoints: new Set(own.map(place => Number(place.slice(path.length + 1)))),
      now,
      shown: line,
    };
    const effects: StateEffect<unknown>[] = [setMarks.of(marks)];
    if (line >= 1 && line <= editor.state.doc.lines) effects.push(toLine(editor, line));
    editor.dispatch({ effects });
    dropDrawn();
    onDrawn();
    if (withLanguage.current === editor) return;
    withLanguage.current = editor;
    addLanguage(editor); // the states of lines come first
  }, [content, path, breakpoints, now, line]);

  return (
    <div class="source">
      <h2>{path}</h2>
      <p class="hidden" aria-live="polite">
        {content?.note}{' '}
        {content && line > 0 && lineText(content.lines, line, breakpoints.includes(`${path}:${line}`))}
      </p>
      {opened && path !== '' && !content && <p class="empty late">The lines are being counted.</p>}
      {content && (content.note ?? text === undefined) && (
        <p class="empty">{content.note ?? 'The text of this file cannot be shown.'}</p>
      )}
      <div class="editor" ref={host} hidden={text === undefined} />
    </div>
  );
}

/**
 * Scrolls to about the middle of the text. The margin holds for the window, too, which moves only
 * where the line is near its edge: on a phone, the menu stays in sight.
 */
const toLine = (editor: EditorView, line: number): StateEffect<unknown> =>
  EditorView.scrollIntoView(editor.state.doc.line(line).from, {
    y: 'nearest',
    yMargin: 0.45 * editor.scrollDOM.clientHeight,
  });

/** The line that is looked at, for people who hear the page. */
function lineText(lines: Lines, line: number, isBreakpoint: boolean): string {
  const [, state, hits = -1] = lines.find(([n]) => n === line) ?? [];
  const ran = state === undefined ? 'has no code' : STATE_TEXT[state];
  const times = hits > 0 ? `, ${hits} times` : '';
  return `line ${line} ${ran}${times}${isBreakpoint ? ', breakpoint' : ''}`;
}
