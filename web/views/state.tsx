// The state at the moment: calls, variables, the kcov buffer, registers, harts.
import type { Focus } from '../protocol.ts';
import { Buffer } from './buffer.tsx';
import type { Shown } from './shown.ts';

export function State({
  focus,
  onLook,
  onLastWrite,
  onSeek,
  onShow,
}: {
  focus: Focus;
  onLook: (args: { hart?: number; level?: number }) => void;
  onLastWrite: (what: string) => void;
  onSeek: (unit: number) => void;
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
      <section>
        <h2>Variables</h2>
        {!focus.variables && <p class="empty">The kernel's types are being loaded.</p>}
        {focus.variables?.length === 0 && <p class="empty">There are none here.</p>}
        <dl>
          {focus.variables?.map(({ name, type, value }) => (
            <div key={name}>
              <dt title={type}>{name}</dt>
              <dd>
                {value ?? <i>optimised out</i>}
                {value !== undefined && (
                  <button
                    type="button"
                    class="who"
                    title={`go to the last store to ${name}`}
                    onClick={() => onLastWrite(name)}
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
        <Buffer buffer={focus.buffer} unit={focus.unit} onSeek={onSeek} onShow={onShow} />
      </section>
      <details>
        <summary>Registers</summary>
        <dl class="registers">
          {focus.registers.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      </details>
    </>
  );
}
