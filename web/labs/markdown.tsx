// The text of a lab as elements: the Markdown that labs are written in, and no HTML. What is not
// known stays text.
import type { ComponentChildren, VNode } from 'preact';

const INLINE = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*/g;

function inline(text: string): ComponentChildren[] {
  const parts: ComponentChildren[] = [];
  let at = 0;
  for (const { 0: all, 1: code, 2: strong, 3: soft, index } of text.matchAll(INLINE)) {
    parts.push(text.slice(at, index));
    if (code !== undefined) parts.push(<code>{code}</code>);
    else if (strong !== undefined) parts.push(<strong>{inline(strong)}</strong>);
    else parts.push(<em>{inline(soft!)}</em>);
    at = index + all.length;
  }
  return [...parts, text.slice(at)];
}

const cellsOf = (row: string): string[] =>
  row
    .trim()
    .replace(/^\||\|$/g, '')
    .split('|')
    .map(cell => cell.trim());

function table(lines: readonly string[]): VNode {
  const [head = '', , ...rows] = lines;
  return (
    <table>
      <thead>
        <tr>
          {cellsOf(head).map((cell, i) => (
            <th key={i}>{inline(cell)}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, i) => (
          <tr key={i}>
            {cellsOf(row).map((cell, j) => (
              <td key={j}>{inline(cell)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const ITEM = /^(?:\*|\d+\.) +/;

/** A line that begins an item begins the next one; the others go on. */
function list(lines: readonly string[]): VNode {
  const items: string[] = [];
  for (const line of lines)
    if (ITEM.test(line)) items.push(line.replace(ITEM, ''));
    else items[items.length - 1] += ` ${line.trim()}`;
  const rows = items.map((item, i) => <li key={i}>{inline(item)}</li>);
  return lines[0]!.startsWith('*') ? <ul>{rows}</ul> : <ol>{rows}</ol>;
}

/** Lines without a blank one between them. */
function block(lines: readonly string[]): VNode {
  const [first = ''] = lines;
  const [, marks, title = ''] = /^(#{1,3}) (.*)$/.exec(first) ?? [];
  if (marks === '#') return <h2>{inline(title)}</h2>;
  if (marks) return <h3>{inline(title)}</h3>;
  if (first.startsWith('|')) return table(lines);
  if (ITEM.test(first)) return list(lines);
  if (lines.every(line => line.startsWith('    ')))
    return <pre>{lines.map(line => line.slice(4)).join('\n')}</pre>;
  return <p>{inline(lines.join(' '))}</p>;
}

export function Markdown({ text }: { readonly text: string }) {
  const blocks: VNode[] = [];
  let lines: string[] = [];
  let fence: string[] | undefined;
  const end = (): void => {
    if (lines.length > 0) blocks.push(block(lines));
    lines = [];
  };
  for (const line of text.split('\n')) {
    if (line.startsWith('```')) {
      end();
      if (fence) blocks.push(<pre>{fence.join('\n')}</pre>);
      fence = fence ? undefined : [];
    } else if (fence) fence.push(line);
    else if (line.trim() === '') end();
    else lines.push(line);
  }
  end();
  return <>{blocks}</>;
}
