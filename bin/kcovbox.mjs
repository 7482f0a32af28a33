#!/usr/bin/env node
// The command. In a checkout it rebuilds the bundle first when a source is newer.
import { existsSync } from 'node:fs';

const bundleUrl = new URL('../dist/kcovbox.mjs', import.meta.url);
if (existsSync(new URL('../cli/main.ts', import.meta.url))) {
  const { bundle, isFresh } = await import('../setup/bundle.mjs');
  if (!isFresh()) {
    try {
      await bundle();
    } catch (error) {
      process.stderr.write(
        `kcovbox: cannot build the command: ${error.message.split('\n')[0]}; run npm start once\n`,
      );
      process.exit(125);
    }
  }
}
const { main } = await import(bundleUrl.href);
process.exitCode = await main(process.argv);
