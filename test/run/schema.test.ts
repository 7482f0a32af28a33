// docs/schemas/ holds the schemas of the files that kcovbox writes; UPDATE_DOCS=1 renews them.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  experimentFile,
  experimentPlan,
  experimentTrial,
  experimentVerification,
} from '../../experiment/schema.ts';
import { canonicalJson } from '../../run/canonical.ts';
import type { RunDescription } from '../../run/schema.ts';
import { SCHEMAS as OF_RUNS } from '../../run/schemas.ts';
import { SAMPLE } from './sample.ts';

const SCHEMAS = {
  ...OF_RUNS,
  experiment: experimentFile,
  'experiment-plan': experimentPlan,
  'experiment-trial': experimentTrial,
  'experiment-verification': experimentVerification,
};

describe.each(Object.entries(SCHEMAS))('docs/schemas/%s.json', (name, schema) => {
  const path = fileURLToPath(new URL(`../../docs/schemas/${name}.json`, import.meta.url));
  it('is the schema that the reader checks with', () => {
    const text = `${JSON.stringify({ title: `kcovbox ${name}`, ...z.toJSONSchema(schema) }, null, 2)}\n`;
    if (process.env['UPDATE_DOCS']) writeFileSync(path, text);
    expect(readFileSync(path, 'utf8')).toBe(text);
  });
});

it('every schema has one row in docs/schemas.md', () => {
  const folder = fileURLToPath(new URL('../../docs/schemas/', import.meta.url));
  const rows = [...readFileSync(`${folder.slice(0, -1)}.md`, 'utf8').matchAll(/^\| `([\w-]+\.json)` \|/gm)];
  expect(rows.map(([, name]) => name).sort()).toEqual(readdirSync(folder).sort());
});

describe('a run description', () => {
  /** Every leaf that can differ between two runs. */
  const leaves = (value: unknown, path: string[] = []): string[][] =>
    typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([key, inner]) => leaves(inner, [...path, key]))
      : [path];

  it('has another id when any field differs, and the same whatever the order of its keys', () => {
    const { run } = SAMPLE;
    const reversed = (value: unknown): unknown =>
      typeof value !== 'object' || value === null || Array.isArray(value)
        ? value
        : Object.fromEntries(
            Object.entries(value)
              .reverse()
              .map(([k, v]) => [k, reversed(v)]),
          );
    expect(canonicalJson(reversed(run))).toBe(canonicalJson(run));
    const texts = leaves(run).map(path => {
      const copy = structuredClone(run) as RunDescription;
      let at = copy as unknown as Record<string, unknown>;
      for (const key of path.slice(0, -1)) at = at[key] as Record<string, unknown>;
      at[path.at(-1)!] = 'other';
      return canonicalJson(copy);
    });
    expect(new Set([canonicalJson(run), ...texts]).size).toBe(texts.length + 1);
  });
});
