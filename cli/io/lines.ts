// Lines of a pipe or a file, each of bounded length: readline would keep any number of bytes, and
// does not report errors of its input.
import { StringDecoder } from 'node:string_decoder';
import { UserError } from './fail.ts';

/** Characters; no input of a person, and none of another tool's lines, is longer. */
const LINE_MAX = 1 << 16;

/**
 * The lines of `input` without their ends, `\n` or `\r\n`. `what`: the input, for messages. Errors:
 * UserError for a line of more than 65,536 characters, as soon as they are read.
 */
export async function* linesOf(
  input: AsyncIterable<Uint8Array | string>,
  what: string,
): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8');
  let number = 0;
  const checked = (line: string): string => {
    if (line.length <= LINE_MAX) return line.endsWith('\r') ? line.slice(0, -1) : line;
    throw new UserError(
      `${what}: line ${number + 1} has more than ${LINE_MAX.toLocaleString('en-US')} characters`,
    );
  };
  let rest = '';
  for await (const chunk of input) {
    const lines = (rest + (typeof chunk === 'string' ? chunk : decoder.write(chunk))).split('\n');
    rest = lines.pop()!;
    for (const line of lines) {
      yield checked(line);
      number++;
    }
    checked(rest);
  }
  rest += decoder.end();
  if (rest !== '') yield checked(rest);
}
