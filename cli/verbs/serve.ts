// `kcovbox serve`: the page on this machine, which also compiles and records the user's C.
import { existsSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { packageRoot, systemMessage, tell } from '../../toolchain/index.ts';
import { UserError } from '../io/fail.ts';
import { ENDING_SIGNALS, SIGNAL_STATUS } from '../io/signals.ts';
import { parseWithin } from '../io/values.ts';
import type { Site } from '../serve/site.ts';

const PORT = 8017;
const PORT_MAX = 65_535;

interface ServeOptions {
  readonly port: number;
  readonly compile: boolean;
}

/** The page in a folder, that of a checkout, or that of the package. */
async function siteFor(given: string | undefined): Promise<Site> {
  const { packagedSite, siteOf } = await import('../serve/site.ts');
  const root = packageRoot();
  const isCheckout = existsSync(join(root, 'setup', 'web.mjs'));
  const folder = given === undefined ? join(root, 'dist', 'web') : resolve(given);
  if (existsSync(join(folder, 'assets.packed'))) return siteOf(folder);
  if (given !== undefined) throw new UserError(`serve: ${given} holds no page: it has no assets.packed`);
  const site = isCheckout ? undefined : packagedSite();
  if (site) return site;
  throw new UserError(
    isCheckout
      ? 'serve: the page is not built yet; build it first: npm run web'
      : 'serve: the page in the package is damaged; install kcovbox again',
  );
}

async function serve(given: string | undefined, { port, compile }: ServeOptions): Promise<void> {
  const site = await siteFor(given);
  const { pageServer } = await import('../serve/server.ts');
  const { Builder } = await import('../serve/builder.ts');
  const { Recorder } = await import('../serve/recorder.ts');
  const { confinedFlags, findTool, hasGlibc } = await import('../../toolchain/index.ts');
  const canCompile = compile && hasGlibc() && findTool('clang') !== undefined;
  if (compile && !canCompile)
    tell('kcovbox: no compiler for programs, so the page compiles none (kcovbox doctor)\n');
  const recorder = canCompile ? new Recorder(confinedFlags) : undefined;
  const { server, path } = pageServer(site, recorder && { recorder, builder: new Builder() });
  await new Promise<void>((done, failed) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? 'another program has this port' : systemMessage(error);
      failed(new UserError(`serve: port ${port}: ${why}; choose one with --port, 0 for any`));
    });
    server.listen(port, '127.0.0.1', done);
  });
  const { port: actual } = server.address() as AddressInfo;
  const isOver = new Promise<void>(done => {
    for (const signal of ENDING_SIGNALS)
      process.once(signal, () => {
        process.exitCode = SIGNAL_STATUS[signal];
        done();
      });
  });
  process.stdout.write(`http://127.0.0.1:${actual}${path}\n`);
  await isOver;
  recorder?.close();
  server.closeAllConnections();
  server.close();
}

export function register(program: Command): void {
  program
    .command('serve')
    .description('serve the page on this machine; in it one can write, run and step through C')
    .argument('[folder]', 'a built page; by default that of the package, or dist/web of a checkout')
    .option('--port <n>', 'port of 127.0.0.1; 0 = any free one', parseWithin(0, PORT_MAX), PORT)
    .option('--no-compile', 'only the recorded programs: compile nothing')
    .addHelpText(
      'after',
      '\nPrints the address of the page and serves it until Ctrl-C. The address holds a secret, so that no\n' +
        'other page and no other user can use it; only programs of this machine reach it. A program that\n' +
        'is written in the page is compiled here: it can include the headers of the C library and no other\n' +
        'file, and cannot have inline assembly. It runs in the emulator for at most a minute.\n' +
        'Examples:\n' +
        '  kcovbox serve\n' +
        '  kcovbox serve --port 0 --no-compile dist/web',
    )
    .action(serve);
}
