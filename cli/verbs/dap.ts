// `kcovbox dap`: the debugger of recorded runs for editors, by the Debug Adapter Protocol on
// standard input and output.
import type { Command } from 'commander';
import { systemMessage } from '../../toolchain/index.ts';
import { Bounded } from '../dap/bounded.ts';
import { UserError } from '../io/fail.ts';

async function serve(): Promise<void> {
  const { DapServer } = await import('../dap/adapter.ts');
  const { sourceFolders } = await import('../debug/source.ts');
  const server = new DapServer(sourceFolders());
  const input = new Bounded();
  const isOver = new Promise<void>((done, failed) => {
    input
      .once('end', done)
      .once('error', (error: Error) => failed(new UserError(`dap: ${systemMessage(error)}`)));
    // A client may leave its end of the pipe open.
    server.once('disconnect', done);
  });
  process.stdin.pipe(input);
  server.start(input, process.stdout);
  await isOver.finally(() => process.stdin.destroy());
}

export function register(program: Command): void {
  program
    .command('dap')
    .description('debug a recorded run from an editor: Debug Adapter Protocol on standard input and output')
    .addHelpText(
      'after',
      '\nThe editor starts this command. Its launch request names a "capsule", a file that run --record\n' +
        'wrote, and may name "images" and "sources" (folders). The debugger steps back, too; its console\n' +
        'takes the commands of kcovbox debug.\n' +
        'Example:\n' +
        '  {"type": "kcovbox", "request": "launch",\n   "capsule": "bug.kcapsule", "sources": ["."]}',
    )
    .action(serve);
}
