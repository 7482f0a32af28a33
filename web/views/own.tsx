// A program of one's own: an editor, and the compiler of `kcovbox serve`, which answers with the
// capsule of the run.
import type { EditorView } from '@codemirror/view';
import { useEffect, useRef, useState } from 'preact/hooks';
import { cEditor } from './c-editor.ts';

/** The name of the program's file in the compiler's messages and in the debug information. */
export const OWN_NAME = 'program.c';

const DIALECTS = { openbsd: 'OpenBSD', netbsd: 'NetBSD', freebsd: 'FreeBSD', linux: 'Linux' } as const;
const HARTS = [1, 2, 4];
/** The text of this tab, which survives a reload. */
const KEPT = 'kcovbox-program';

function keptText(): string | null {
  try {
    return sessionStorage.getItem(KEPT);
  } catch {
    return null; // not allowed here
  }
}

function keepText(text: string): void {
  try {
    sessionStorage.setItem(KEPT, text);
  } catch {} // not allowed here, or no room
}

const FIRST = `#include <stdio.h>
#include <unistd.h>

int main(void)
{
	long n = read(-1, NULL, 0);
	printf("read says %ld\\n", n);
	return 0;
}
`;

interface Wanted {
  readonly dialect: string;
  readonly harts: number;
  /** With blanks between them. */
  readonly args: string;
}

/** The capsule of the run. Errors: the words of the compiler or of the host. */
async function compiled(
  compiler: URL,
  source: string,
  { dialect, harts, args }: Wanted,
): Promise<Uint8Array> {
  const url = new URL(compiler);
  url.search = `${new URLSearchParams({ dialect, harts: `${harts}`, args })}`;
  const response = await fetch(url, { method: 'POST', body: source });
  if (!response.ok) throw new Error((await response.text()).trim());
  return new Uint8Array(await response.arrayBuffer());
}

export function Own({
  compiler,
  choices,
  onCapsule,
}: {
  compiler: URL;
  /** Changes when the reader opens something. */
  choices: { readonly current: number };
  onCapsule: (bytes: Uint8Array, source: string) => void;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const place = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView>();
  const [wanted, setWanted] = useState<Wanted>({ dialect: 'openbsd', harts: 1, args: '' });
  const [said, setSaid] = useState('');
  const [isBusy, setBusy] = useState(false);

  const run = async (): Promise<void> => {
    if (isBusy) return; // Ctrl+Enter again
    const source = editor.current?.state.doc.toString() ?? '';
    keepText(source);
    setBusy(true);
    setSaid('');
    const before = choices.current;
    try {
      const bytes = await compiled(compiler, source, wanted);
      if (choices.current !== before)
        throw new Error('the program is compiled, but another run was opened meanwhile: run it again');
      dialog.current?.close();
      onCapsule(bytes, source);
    } catch (error) {
      setSaid((error as Error).message);
    } finally {
      setBusy(false);
    }
  };
  const latest = useRef(run);
  latest.current = run;

  useEffect(() => {
    const submit = {
      key: 'Mod-Enter',
      run: () => {
        void latest.current();
        return true;
      },
    };
    const view = cEditor(place.current!, keptText() ?? FIRST, 'C program', [submit]);
    editor.current = view;
    return () => view.destroy();
  }, []);

  return (
    <>
      <button
        type="button"
        onClick={() => {
          dialog.current?.showModal();
          editor.current?.focus(); // else the dialog focuses the scroller, which takes no keys
        }}
        title="compile, run and step through it"
      >
        Write C
      </button>
      <dialog ref={dialog} class="own" aria-label="a program of your own">
        <div class="own-text" ref={place} />
        <pre class="own-said" role="status">
          {said}
        </pre>
        <div class="own-row">
          <label>
            kernel{' '}
            <select
              value={wanted.dialect}
              onChange={event => setWanted({ ...wanted, dialect: event.currentTarget.value })}
            >
              {Object.entries(DIALECTS).map(([id, name]) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
          </label>
          <label>
            harts{' '}
            <select
              value={wanted.harts}
              onChange={event => setWanted({ ...wanted, harts: Number(event.currentTarget.value) })}
            >
              {HARTS.map(n => (
                <option key={n} value={n}>
                  {n}
                </option>
              ))}
            </select>
          </label>
          <label>
            arguments{' '}
            <input
              value={wanted.args}
              maxLength={1000}
              onInput={event => setWanted({ ...wanted, args: event.currentTarget.value })}
            />
          </label>
          <button type="button" onClick={() => dialog.current?.close()}>
            Close
          </button>
          <button type="button" class="main" disabled={isBusy} onClick={() => void run()} title="Ctrl+Enter">
            {isBusy ? 'compiling' : 'Compile and run'}
          </button>
        </div>
      </dialog>
    </>
  );
}
