// The first violation of a schema by a value, as one short line.
import type * as z from 'zod';

/** The message of a value with a thousand unknown keys is as long as all of them. */
const MESSAGE_MAX = 160;

/** The first issue as "field: why"; `prefix`: the path to the value. */
export function firstIssue(error: z.ZodError, prefix: readonly PropertyKey[] = []): string {
  const [issue] = error.issues;
  const path = [...prefix, ...(issue?.path ?? [])].map(String).join('.');
  const text = `${path === '' ? '' : `${path}: `}${issue?.message ?? 'invalid'}`;
  return text.length > MESSAGE_MAX ? `${text.slice(0, MESSAGE_MAX)}...` : text;
}
