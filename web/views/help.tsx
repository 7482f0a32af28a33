// The keys, as a dialog.
import type { RefObject } from 'preact';
import { ACTS, MOTIONS } from './keys.ts';

export function Help({ dialog }: { dialog: RefObject<HTMLDialogElement> }) {
  const row = ({ key, title }: { readonly key: string; readonly title: string }) => (
    <div key={key}>
      <dt>
        <kbd>{key}</kbd>
      </dt>
      <dd>{title}</dd>
    </div>
  );
  return (
    <dialog ref={dialog} class="help" aria-label="keys">
      {/* Else the button below has the focus, and a low window shows the end. */}
      <h2 tabIndex={-1} autofocus>
        Keys
      </h2>
      <div class="keys">
        <dl>{MOTIONS.map(row)}</dl>
        <dl>{ACTS.map(row)}</dl>
      </div>
      <p>
        Tab goes from view to view, and Enter does what a click does. In the source, the keys act on the line
        with a frame.
      </p>
      <div class="own-row">
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
    </dialog>
  );
}
