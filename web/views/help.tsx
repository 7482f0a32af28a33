// The keys, as a dialog.
import type { RefObject } from 'preact';
import { ACTS, MOTIONS } from './keys.ts';

/**
 * Begins at the heading: the button below would have the focus, and a low window would show the
 * end. Not by `autofocus`, which a browser reports as blocked in a frame of another origin.
 */
export function showHelp(dialog: HTMLDialogElement | null): void {
  dialog?.showModal();
  dialog?.querySelector('h2')?.focus();
}

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
      <h2 tabIndex={-1}>Keys</h2>
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
