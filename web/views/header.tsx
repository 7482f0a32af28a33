import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import type { Assets, Opened } from '../protocol.ts';
import { AS_KEPT } from '../start/kept.ts';

export function Header({
  assets,
  program,
  opened,
  isBusy,
  isKept,
  whole,
  onProgram,
  onFiles,
  children,
}: {
  assets: Assets | undefined;
  program: string | undefined;
  opened: Opened | undefined;
  isBusy: boolean;
  /** Are lines of the last visit shown, until the run is there? */
  isKept: boolean;
  /** Address of the whole page, where this one is in a frame of another. */
  whole: string | undefined;
  onProgram: (id: string) => void;
  onFiles: (files: readonly File[]) => void;
  /** More buttons. */
  children?: ComponentChildren;
}) {
  const input = useRef<HTMLInputElement>(null);
  const row = assets?.programs.find(({ id }) => id === program);
  return (
    <header>
      <h1>kcovbox</h1>
      <label>
        <span class="hidden">program</span>
        <select value={program ?? ''} onChange={event => onProgram(event.currentTarget.value)}>
          {program === undefined && <option value="">{opened?.title ?? 'choose a program'}</option>}
          {assets?.programs.map(({ id, title }) => (
            <option key={id} value={id}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <button
        type="button"
        onClick={() => input.current?.click()}
        title="a .kcapsule of kcovbox run --record, a static RISC-V program, or the C source of the run"
      >
        Open a file
      </button>
      <input
        ref={input}
        class="hidden"
        type="file"
        multiple
        aria-label="capsule, program or source text"
        tabIndex={-1}
        onChange={event => {
          onFiles([...(event.currentTarget.files ?? [])]);
          event.currentTarget.value = '';
        }}
      />
      {children}
      <p class="about">{row?.about ?? ''}</p>
      {whole !== undefined && (
        <a class="whole" href={whole} target="_blank" rel="noreferrer">
          open the whole page
        </a>
      )}
      <Verdict opened={opened} isBusy={isBusy} isKept={isKept} />
    </header>
  );
}

export const verdictOf = ({ differences }: Opened): string =>
  differences.length === 0 ? 'identical to the recorded run' : `not the recorded run: ${differences[0]}`;

/** Whether the run in this page is the one that was recorded. */
function Verdict({
  opened,
  isBusy,
  isKept,
}: {
  opened: Opened | undefined;
  isBusy: boolean;
  isKept: boolean;
}) {
  if (isBusy) return <output class="verdict busy">{isKept ? AS_KEPT : 'working'}</output>;
  if (!opened) return <output class="verdict none">no run</output>;
  const { differences, stateHash, end } = opened;
  return differences.length === 0 ? (
    <output class="verdict same" title={`state ${stateHash}, ${end}`}>
      {verdictOf(opened)}
    </output>
  ) : (
    <output class="verdict other" title={differences.join('\n')}>
      {verdictOf(opened)}
    </output>
  );
}
