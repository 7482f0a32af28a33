// The run as an address or as a file. An address names the kernel and programs of the menu by their
// hashes, because the page has them; all else has to fit into it.
import { useRef, useState } from 'preact/hooks';
import type { Client } from './client.ts';
import { base } from './load.ts';
import { type Place, writePlace } from './place.ts';

interface Shared {
  readonly run: string | undefined;
  readonly bytes: number;
}

/** `place`: of the focus. Errors go to `doing`. */
export function Share({
  client,
  name,
  place,
  doing,
}: {
  client: Client;
  name: string;
  place: Place;
  doing: (work: () => Promise<void>) => Promise<void>;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const [shared, setShared] = useState<Shared>();
  const [said, setSaid] = useState('');

  const open = () =>
    doing(async () => {
      setSaid('');
      setShared(await client.ask('share', {}));
      dialog.current?.showModal();
      field.current?.select();
    });
  const copy = async (): Promise<void> => {
    field.current?.select();
    try {
      await navigator.clipboard.writeText(field.current!.value);
      setSaid('copied');
    } catch {
      setSaid('the address is selected; copy it with Ctrl+C'); // a frame may not write it
    }
  };
  const save = () =>
    doing(async () => {
      const bytes = await client.ask('file', {});
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob([bytes as Uint8Array<ArrayBuffer>]));
      link.download = `${name.replace(/[^\w.-]/g, '_')}.kcapsule`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    });
  const address = base.replace(/#.*/, '') + writePlace({ ...place, run: shared?.run });
  return (
    <>
      <button type="button" onClick={() => void open()} title="the run as an address or as a file">
        Share
      </button>
      <dialog ref={dialog} class="sharing" aria-label="share the run">
        {shared?.run === undefined ? (
          <p>
            This run does not fit into an address: it takes {((shared?.bytes ?? 0) / 1000).toFixed(1)} kB. A
            file has no limit, and <code>kcovbox replay</code> opens it, too.
          </p>
        ) : (
          <p>
            <label>
              The address holds the whole run, with this moment and line:
              <input ref={field} readOnly value={address} />
            </label>
          </p>
        )}
        <div class="own-row">
          <output>{said}</output>
          <button type="button" onClick={() => dialog.current?.close()}>
            Close
          </button>
          <button type="button" onClick={() => void save()}>
            Save as a file
          </button>
          {shared?.run !== undefined && (
            <button type="button" class="main" onClick={() => void copy()}>
              Copy the address
            </button>
          )}
        </div>
      </dialog>
    </>
  );
}
