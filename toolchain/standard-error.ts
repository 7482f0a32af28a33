// Standard error carries remarks, and no result: where it cannot be written (closed, full, its
// reader gone), the work and its exit status are as if it could. Standard output is different: its
// failure ends a command (cli/io/output.ts).

let isTolerant = false;

/**
 * The stream of standard error, whose failures are ignored from now on. Node makes it at the first
 * use, which a run that has nothing to say does not pay for.
 */
export function standardError(): NodeJS.WriteStream {
  const { stderr } = process;
  if (!isTolerant) stderr.on('error', () => {}); // without a listener it would end the process
  isTolerant = true;
  return stderr;
}

/** Writes text to standard error, if that can be written. */
export function tell(text: string): void {
  standardError().write(text);
}
