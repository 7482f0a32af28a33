/**
 * Addresses of views, so that every view can be linked to:
 * `#/file/kernel/fs/open.c:95?only=test:files`. Paths and lines, not numbers of this one page, so a
 * link also fits the report of the next run.
 */
import { D, groupKey } from './data.ts';

export interface Route {
  view: string;
  /** A path of a file, or the id of a call; '' for none. */
  name: string;
  /** 0 for none. */
  line: number;
  only: string | undefined;
  a: string | undefined;
  b: string | undefined;
}

const encode = (text: string): string =>
  encodeURIComponent(text).replaceAll('%2F', '/').replaceAll('%3A', ':');

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a stray percent sign of a link that was typed
  }
}

export function parseRoute(hash: string): Route {
  const mark = hash.indexOf('?');
  const path = mark < 0 ? hash : hash.slice(0, mark);
  const query = new URLSearchParams(mark < 0 ? '' : hash.slice(mark + 1));
  const [, view = path.slice(1), rest = ''] = /^#\/([^/]*)\/?(.*)$/.exec(path) ?? [];
  const place = view === 'file' ? /^(.*?)(?::(\d+))?$/.exec(rest)! : [rest, rest, undefined];
  const value = (key: string) => query.get(key) ?? undefined;
  return {
    view: view || 'files',
    name: decode(place[1] ?? ''),
    line: Number(place[2] ?? 0),
    only: value('only'),
    a: value('a'),
    b: value('b'),
  };
}

export function hashOf(route: Partial<Route>): string {
  const { view = 'files', name = '', line = 0 } = route;
  const query = (['only', 'a', 'b'] as const)
    .filter(key => route[key] !== undefined)
    .map(key => `${key}=${encode(route[key]!)}`);
  const place = `${name ? `/${encode(name)}` : ''}${line ? `:${line}` : ''}`;
  return `#/${view === 'files' ? '' : view}${place}${query.length ? `?${query.join('&')}` : ''}`;
}

/** The view that is shown. */
export let here: Route = parseRoute('');

export function setHere(route: Route): void {
  here = route;
}

/** The link to a view that keeps the filter and the comparison. */
export function link(view: string, name = '', line = 0): string {
  const { only, a, b } = here;
  return hashOf({ view, name, line, only, a, b });
}

export const fileLink = (path: string, line = 0): string => link('file', path, line);

/** The name of a filter or a comparison in a URL. */
export const keyOfGroup = (group: number): string | undefined =>
  group < 0 ? undefined : groupKey(D.groups[group]!);
