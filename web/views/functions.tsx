// Functions of the kernel that ran, with their calls.
import { useState } from 'preact/hooks';
import { useAnswer } from './answer.ts';
import type { BrowseProps } from './browse-props.ts';

const SHOWN = 400;
/** All hooks of kcov begin with it, and their ends would be cut off. */
const HOOK = /^__sanitizer_cov_/;

export function Functions({ client, opened, measure, shown, onShow }: BrowseProps) {
  const [filter, setFilter] = useState('');
  const rows = useAnswer(client, opened, 'functions', { measure }, []);
  const wanted = (rows ?? []).filter(({ name, file }) => `${name} ${file}`.includes(filter));
  return (
    <>
      <input
        type="search"
        placeholder="filter functions"
        aria-label="filter functions"
        value={filter}
        onInput={event => setFilter(event.currentTarget.value)}
      />
      <ol>
        {wanted.slice(0, SHOWN).map(({ name, file, line, calls, isLeast, covered, total }) => (
          <li key={`${name} ${file} ${line}`}>
            <button
              type="button"
              title={`${name}, ${file}:${line}, ${covered} of ${total} points`}
              aria-current={shown?.file === file && shown.line === line ? 'true' : undefined}
              onClick={() => onShow({ file, line })}
            >
              <span class="path">{name.replace(HOOK, '…')}</span>
              <span class="count">
                {isLeast ? '≥ ' : ''}
                {calls.toLocaleString('en-US')} ×
              </span>
            </button>
          </li>
        ))}
      </ol>
      {rows === undefined && <p class="empty">The functions are being counted.</p>}
      {rows && wanted.length === 0 && (
        <p class="empty">No function {filter === '' ? 'ran' : 'has this name'}.</p>
      )}
      {wanted.length > SHOWN && <p class="empty">{wanted.length - SHOWN} more; filter them.</p>}
    </>
  );
}
