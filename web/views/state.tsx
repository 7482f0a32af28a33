// The state at the moment: calls, variables, the kcov buffer, registers, harts.
import type { Focus } from '../protocol.ts';

export function State({
  focus,
  onLook,
  onLastWrite,
}: {
  focus: Focus;
  onLook: (args: { hart?: number; level?: number }) => void;
  onLastWrite: (what: string) => void;
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
        {focus.buffer ? (
          <>
            <p>
              thread {focus.buffer.tid} records {focus.buffer.mode}
              {focus.buffer.handle !== '' && `, handle ${focus.buffer.handle}`}; {focus.buffer.words} words
            </p>
            <ol class="words" start={0}>
              {focus.buffer.shown
                .slice(0, Math.min(64, 1 + Number(focus.buffer.shown[0] ?? 0)))
                .map((word, i) => (
                  <li key={i}>{i === 0 ? `${Number(word)} records` : word}</li>
                ))}
            </ol>
          </>
        ) : (
          <p class="empty">This hart records nothing now; {focus.records} records were made up to here.</p>
        )}
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
