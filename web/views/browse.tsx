// Three ways into the kernel's source: by file, by function, and by the calls of a system call.
import type { BrowseProps } from './browse-props.ts';
import { Calls } from './calls.tsx';
import { Files } from './files.tsx';
import { Functions } from './functions.tsx';
import { attributesOf } from './keys.ts';

export const WAYS = { files: 'Files', functions: 'Functions', calls: 'Calls' } as const;
export type Way = keyof typeof WAYS;

export function Browse({ way, onWay, ...props }: BrowseProps & { way: Way; onWay: (way: Way) => void }) {
  const { measure, onMeasure } = props;
  return (
    <>
      <nav class="ways" aria-label="views of the kernel">
        {Object.entries(WAYS).map(([id, label]) => (
          <button
            key={id}
            type="button"
            aria-pressed={id === way}
            title={`${attributesOf(id as Way).title}`}
            onClick={() => onWay(id as Way)}
          >
            {label}
          </button>
        ))}
      </nav>
      {way !== 'calls' && (
        <fieldset>
          <legend>Lines that</legend>
          <label>
            <input
              type="radio"
              name="measure"
              checked={measure === 'kcov'}
              onChange={() => onMeasure('kcov')}
            />{' '}
            kcov recorded
          </label>
          <label>
            <input
              type="radio"
              name="measure"
              checked={measure === 'all'}
              onChange={() => onMeasure('all')}
            />{' '}
            ran
          </label>
        </fieldset>
      )}
      {way === 'files' && <Files {...props} />}
      {way === 'functions' && <Functions {...props} />}
      {way === 'calls' && <Calls {...props} />}
    </>
  );
}
