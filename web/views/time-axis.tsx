// The run on one axis: a lane of events for each hart, and the points that kcov recorded so far.
// A click goes to a moment; dragging zooms, a double click shows all again.
import { useEffect, useRef, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import type { Details, Focus, MomentRow, Opened, RunEvent } from '../protocol.ts';
import { attributesOf } from './keys.ts';
import { library } from './load.ts';

const LANE = 16;
/** Between the lanes and the plot, whose highest label is half above it. */
const GAP = 14;
const HEIGHT = 138;
/** Pixels from a click to an event that it means. */
const NEAR = 5;
/** Each kind of event has a colour of style.css and a height in its lane. */
const KINDS: Readonly<Record<RunEvent['kind'], { readonly color: string; readonly height: number }>> = {
  syscall: { color: '--accent', height: 1 },
  interrupt: { color: '--warn', height: 0.7 },
  exception: { color: '--bad', height: 0.45 },
  kcov: { color: '--mark-strong', height: 0.85 },
};

const nameOf = ({ name, unit }: Place): string => `${name}, unit ${unit.toLocaleString('en-US')}`;

/** Canvases take no variables: the colour that one has now. */
function colorOf(name: string): string {
  const probe = document.createElement('i');
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/** What the keys do with the axis. */
export interface TimeCommands {
  event(by: 1 | -1): void;
  /** The visible part, this many times as long around the moment; 0: all. */
  zoom(factor: number): void;
}

interface Marks {
  focus: Focus;
  moments: readonly MomentRow[];
}

interface Place {
  readonly unit: number;
  readonly hart?: number;
  readonly name?: string;
}

/** What can be met in the lane at a height: events of a hart, records and traps of a thread. */
function placesAt(top: number, { events, lanes }: Details, { harts }: Opened): readonly Place[] {
  const row = Math.floor((top + (harts + lanes.length) * LANE + GAP) / LANE);
  const lane = lanes[row - harts];
  if (lane) return [...lane.units, ...lane.traps].map(unit => ({ unit, name: lane.name }));
  return row >= 0 && row < harts ? events.filter(({ hart }) => hart === row) : events;
}

/** The one nearest to a pixel, if one is near. */
function placeNear(plot: uPlot, places: readonly Place[], left: number): Place | undefined {
  let best: Place | undefined;
  let distance = NEAR + 1;
  for (const event of places) {
    const away = Math.abs(plot.valToPos(event.unit, 'x') - left);
    if (away < distance) [best, distance] = [event, away];
  }
  return best;
}

function drawLanes(
  plot: uPlot,
  { events, lanes }: Details,
  { harts }: Opened,
  { focus, moments }: Marks,
): void {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio;
  const colors = new Map<string, string>();
  const colored = (name: string): string => {
    let color = colors.get(name);
    if (color === undefined) colors.set(name, (color = colorOf(name)));
    return color;
  };
  const top = bbox.top - ((harts + lanes.length) * LANE + GAP) * ratio;
  const bar = (unit: number, y: number, height: number, color: string, width = 1): void => {
    const x = Math.round(plot.valToPos(unit, 'x', true));
    if (x < bbox.left || x > bbox.left + bbox.width) return;
    ctx.fillStyle = colored(color);
    ctx.fillRect(x, y, width * ratio, height);
  };
  ctx.save();
  for (const { unit, hart, kind } of events) {
    const { color, height } = KINDS[kind];
    const room = (LANE - 3) * ratio;
    bar(unit, top + hart * LANE * ratio + room * (1 - height), room * height, color);
  }
  const label = (lane: number, text: string): void => {
    ctx.fillStyle = colored('--soft');
    ctx.font = `${10 * ratio}px sans-serif`;
    ctx.textAlign = 'right';
    ctx.fillText(text, bbox.left - 6 * ratio, top + (lane * LANE + LANE - 5) * ratio, bbox.left);
  };
  for (let hart = 0; hart < harts; hart++) label(hart, `hart ${hart}`);
  for (const [i, lane] of lanes.entries()) {
    label(harts + i, lane.name.replace('remote section', 'remote').replace(/0x\w{8,}(?=\w{4}$)/, '0x…'));
    const y = top + (harts + i) * LANE * ratio;
    for (const unit of lane.traps) bar(unit, y + 3 * ratio, (LANE - 6) * ratio, '--accent');
    for (const unit of lane.units) bar(unit, y + 4 * ratio, (LANE - 8) * ratio, '--good');
  }
  const whole = bbox.top + bbox.height - top;
  for (const { unit } of moments) bar(unit, top, whole, '--mark-strong');
  bar(focus.unit, top, whole, '--ink', 2);
  ctx.restore();
}

/** Classes of style.css, and the names of their colours. */
const LEGEND = [
  ['syscall', 'system call'],
  ['interrupt', 'interrupt'],
  ['exception', 'exception'],
  ['kcov', 'kcov'],
  ['points', 'recorded'],
] as const;

export function TimeAxis({
  opened,
  details,
  focus,
  moments,
  commands,
  onSeek,
}: {
  opened: Opened;
  details: Details;
  focus: Focus;
  moments: readonly MomentRow[];
  /** Is set to what the keys do. */
  commands: { current: TimeCommands | undefined };
  onSeek: (unit: number, hart?: number) => void;
}) {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>();
  const [Plot, setPlot] = useState<typeof uPlot>();
  const label = useRef<HTMLOutputElement>(null);
  const marks = useRef<Marks>({ focus, moments });
  const seek = useRef(onSeek);
  marks.current = { focus, moments };
  seek.current = onSeek;

  useEffect(() => {
    let isOver = false;
    void library<{ default: typeof uPlot }>('uplot').then(made => isOver || setPlot(() => made.default));
    return () => {
      isOver = true;
    };
  }, []);

  useEffect(() => {
    if (!Plot) return;
    const { growth, first, last, harts } = opened;
    const { start, lanes } = details;
    const rows = harts + lanes.length;
    const element = host.current!;
    const units = [first, ...growth.units, last];
    const points = [0, ...growth.points, growth.points.at(-1) ?? 0];
    const color = (name: string) => () => colorOf(name);
    const made = new Plot(
      {
        width: element.clientWidth,
        height: HEIGHT + rows * LANE,
        padding: [rows * LANE + GAP + 6, 34, 0, 0], // on the right: half of a label
        legend: { show: false },
        scales: {
          x: { time: false, min: start, max: last },
          y: { range: (_, __, most) => [0, Math.max(10, most * 1.1)] },
        },
        axes: [
          {
            stroke: color('--soft'),
            grid: { stroke: color('--rule') },
            space: 90, // pixels: a label has up to eleven characters
            values: (_, all) => all.map(u => u.toLocaleString('en-US')),
          },
          { stroke: color('--soft'), grid: { stroke: color('--rule') }, size: 92 },
        ],
        series: [
          {},
          {
            label: 'points',
            stroke: color('--good'),
            width: 2,
            paths: Plot.paths.stepped!({ align: 1 }),
            points: { show: false },
          },
        ],
        cursor: { y: false, points: { show: false }, drag: { x: true, setScale: true, dist: 8 } },
        hooks: {
          draw: [now => drawLanes(now, details, opened, marks.current)],
        },
      },
      [units, points],
      element,
    );
    plot.current = made;
    // The lanes are above the plotting area, whose own events end at its border.
    const at = ({ clientX, clientY }: MouseEvent): { left: number; near: Place | undefined } => {
      const box = made.over.getBoundingClientRect();
      const left = clientX - box.left;
      if (left < 0 || left > box.width) return { left: -1, near: undefined };
      return { left, near: placeNear(made, placesAt(clientY - box.top, details, opened), left) };
    };
    const clicked = (event: MouseEvent): void => {
      const { left, near } = at(event);
      if (left < 0 || made.select.width > 0) return;
      const unit = Math.round(made.posToVal(left, 'x'));
      if (near) seek.current(near.unit, near.hart);
      else seek.current(Math.min(last, Math.max(first, unit)));
    };
    const moved = (event: MouseEvent): void => {
      const { near } = at(event);
      label.current!.textContent = near ? nameOf(near) : '';
    };
    made.root.addEventListener('click', clicked);
    made.root.addEventListener('mousemove', moved);
    const resized = new ResizeObserver(() =>
      made.setSize({ width: element.clientWidth, height: HEIGHT + rows * LANE }),
    );
    resized.observe(element);
    return () => {
      resized.disconnect();
      made.destroy();
    };
  }, [opened, details, Plot]);

  useEffect(() => plot.current?.redraw(false), [focus, moments]);

  const { events } = details;
  const go = (by: 1 | -1): void => {
    const next =
      by > 0
        ? events.find(({ unit }) => unit > focus.unit)
        : events.findLast(({ unit }) => unit < focus.unit);
    if (!next) return;
    onSeek(next.unit, next.hart);
    label.current!.textContent = nameOf(next);
  };
  const zoom = (factor: number): void => {
    const { min = opened.first, max = opened.last } = plot.current?.scales['x'] ?? {};
    const half = Math.max(20, ((max - min) * factor) / 2);
    const range = factor === 0 ? { min: opened.first, max: opened.last } : aroundOf(focus.unit, half, opened);
    plot.current?.setScale('x', range);
  };
  commands.current = { event: go, zoom };
  return (
    <section class="time" aria-label="time axis">
      <h2>
        Time axis <output ref={label} />
        <span class="legend">
          {LEGEND.map(([kind, name]) => (
            <span key={kind}>
              <i class={`k-${kind}`} /> {name}{' '}
            </span>
          ))}
        </span>
        <button type="button" onClick={() => go(-1)} {...attributesOf('event-before')}>
          ← event
        </button>
        <button type="button" onClick={() => go(1)} {...attributesOf('event-next')}>
          event →
        </button>
      </h2>
      <div
        ref={host}
        role="img"
        aria-label={`${events.length} events of ${opened.harts} harts, and ${details.lanes.length} threads and remote sections`}
      />
      {details.moreEvents > 0 && <p>{details.moreEvents} more events are not drawn.</p>}
      {details.moreLanes > 0 && <p>{details.moreLanes} more threads are not drawn.</p>}
    </section>
  );
}

function aroundOf(unit: number, half: number, { first, last }: Opened): { min: number; max: number } {
  const min = Math.max(first, unit - half);
  return { min, max: Math.min(last, min + 2 * half) };
}
