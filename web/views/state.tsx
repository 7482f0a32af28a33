// The state at the moment: the datum, calls, variables, the kcov buffer, registers, harts.
import type { RefObject } from 'preact';
import type { Focus } from '../protocol.ts';
import { Buffer } from './buffer.tsx';
import type { Client } from './client.ts';
import { Datum } from './datum.tsx';
import type { Shown } from './shown.ts';

export function State({
  client,
  focus,
  datum,
  field,
  onLook,
  onFollow,
  onWrite,
  onSeek,
  onShow,
}: {
  client: Client;
  focus: Focus;
  /** Its name. */
  datum: string | undefined;
  field: RefObject<HTMLInputElement>;
  onLook: (args: { hart?: number; level?: number }) => void;
  /** `thenGo`: to the last store. */
  onFollow: (what: string, thenGo?: boolean) => void;
  onWrite: (direction: 'forward' | 'back') => void;
  onSeek: (unit: number, hart?: number) => void;
  onShow: (shown: Shown) => void;
}) {
  return (
    <>
      {focus.harts.length > 1 && (
        <section>
          <h2>Harts</h2>
          <ol>
            {focus.harts.map(({ id, place, isWaiting }) => (
              <li key={id}>
                <button
                  type="button"
                  aria-current={id === focus.hart ? 'true' : undefined}
                  onClick={() => onLook({ hart: id })}
                >
                  {id}: {place}
                  {isWaiting ? ', waits' : ''}
                </button>
              </li>
            ))}
          </ol>
        </section>
      )}
      <section>
        <h2>Calls</h2>
        <ol class="calls">
          {focus.frames.map((frame, level) => (
            <li key={`${level}${frame.pc}`}>
              <button
                type="button"
                aria-current={level === focus.level ? 'true' : undefined}
                onClick={() => onLook({ level })}
              >
                <b>{frame.function}</b>{' '}
                <span>{frame.line > 0 ? `${frame.file}:${frame.line}` : frame.pc}</span>
                {frame.isInlined && <i> inlined</i>}
              </button>
            </li>
          ))}
        </ol>
      </section>
      <Datum
        client={client}
        focus={focus}
        what={datum}
        field={field}
        onFollow={onFollow}
        onWrite={onWrite}
        onSeek={onSeek}
      />
      <section>
        <h2>Variables</h2>
        {!focus.variables && <p class="empty">The kernel's types are being loaded.</p>}
        {focus.variables?.length === 0 && <p class="empty">There are none here.</p>}
        <dl>
          {focus.variables?.map(({ name, type, value, absence }) => (
            <div key={name}>
              <dt title={type}>
                <button
                  type="button"
                  class="name"
                  aria-pressed={datum === name}
                  disabled={value === undefined}
                  onClick={() => onFollow(name)}
                >
                  {name}
                </button>
              </dt>
              <dd>
                {value ?? <i>{absence}</i>}
                {value !== undefined && (
                  <button
                    type="button"
                    class="who"
                    title={`go to the last store to ${name}`}
                    onClick={() => onFollow(name, true)}
                  >
                    who wrote this?
                  </button>
                )}
              </dd>
            </div>
          ))}
        </dl>
      </section>
      <section>
        <h2>kcov buffer</h2>
        <Buffer
          client={client}
          buffer={focus.buffer}
          unit={focus.unit}
          onFollow={onFollow}
          onSeek={onSeek}
          onShow={onShow}
        />
      </section>
      <details>
        <summary>Registers</summary>
        <dl class="registers">
          {focus.registers.map(([name, value]) => (
            <div key={name}>
              <dt>
                {name === 'zero' ? (
                  name
                ) : (
                  <button
                    type="button"
                    class="name"
                    aria-pressed={name === 'pc' ? undefined : datum === `$${name}`}
                    title={name === 'pc' ? 'look at its code' : `follow ${name} as a datum`}
                    onClick={() => (name === 'pc' ? onLook({ level: 0 }) : onFollow(`$${name}`))}
                  >
                    {name}
                  </button>
                )}
              </dt>
              <dd>
                {value}
                {name !== 'pc' && name !== 'zero' && (
                  <button
                    type="button"
                    class="who"
                    title={`go to the last change of ${name}`}
                    onClick={() => onFollow(`$${name}`, true)}
                  >
                    who wrote this?
                  </button>
                )}
              </dd>
            </div>
          ))}
        </dl>
      </details>
    </>
  );
}
