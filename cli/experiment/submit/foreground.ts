// An engine that works in the foreground of the terminal: GNU parallel, Snakemake.
import { spawn } from 'node:child_process';
import { UserError } from '../../io/fail.ts';
import { ENDING_SIGNALS, type EndingSignal, SIGNAL_STATUS } from '../../io/signals.ts';

const STDERR = 2;

/**
 * Runs the program with both of its outputs on standard error, and answers with its status. A
 * signal becomes SIGINT for the program, which then ends its tasks; this process ends behind it.
 * Errors: UserError if it cannot be started, or a signal ended it.
 */
export function runInForeground(program: string, words: readonly string[]): Promise<number> {
  const child = spawn(program, words, { stdio: ['ignore', STDERR, STDERR] });
  let received: EndingSignal | undefined;
  const pass = (signal: EndingSignal): void => {
    received ??= signal;
    child.kill('SIGINT');
  };
  for (const signal of ENDING_SIGNALS) process.on(signal, pass);
  return new Promise<number>((resolve, reject) => {
    child.on('error', error => reject(new UserError(`cannot start ${program}: ${error.message}`)));
    child.on('close', (status, signal) => {
      if (received !== undefined) process.exit(SIGNAL_STATUS[received]);
      if (status === null) reject(new UserError(`${signal} ended ${program}`));
      else resolve(status);
    });
  }).finally(() => {
    for (const signal of ENDING_SIGNALS) process.off(signal, pass);
  });
}
