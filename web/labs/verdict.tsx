// The checks of a lab: what was decided, why, and the run that failed.
import type { CheckScore, LabCheck } from '../../grade/schema.ts';

/** Lines of a path that are shown. */
const PATH_MAX = 12;

export function Check({
  check,
  score,
  onRun,
}: {
  readonly check: LabCheck;
  /** Undefined: not decided. */
  readonly score: CheckScore | undefined;
  /** Shows the recorded run; undefined: there is none. */
  readonly onRun: (() => void) | undefined;
}) {
  const path = score?.path?.slice(0, PATH_MAX) ?? [];
  return (
    <li class={`check ${score?.status ?? 'open'}`} data-check={check.id}>
      <p>
        <b>{check.id}</b> <span class="status">{score?.status ?? ''}</span>{' '}
        <span class="points">{score ? `${score.points}/${score.of}` : `${check.points} points`}</span>{' '}
        {check.says}
      </p>
      {score && score.status !== 'pass' && <p class="why">{score.why}</p>}
      {path.length > 0 && <pre>{path.join('\n')}</pre>}
      {onRun && (
        <button type="button" onClick={onRun}>
          Look at the run
        </button>
      )}
      {check.hint !== undefined && (
        <details>
          <summary>Hint</summary>
          {check.hint}
        </details>
      )}
    </li>
  );
}
