// Runs command lines of kcovbox one after the other in this process (command.ts, kcovboxLines).
// Standard input: a JSON array of command lines. Descriptor 3 gets a JSON array with what each did:
// status, stdout, stderr, and the names in the current folder afterwards. A line that ends the
// process is the last of that array.
'use strict';
const fs = require('node:fs');
const { join } = require('node:path');

const { main } = require('../../dist/kcovbox.cjs');
const COMMAND = join(__dirname, '..', '..', 'bin', 'kcovbox.cjs');
const lines = JSON.parse(fs.readFileSync(0, 'utf8'));

const ended = [];
let said = { 1: '', 2: '' };

/** Keeps what is written to standard output and standard error, in place of writing it. */
function capture() {
  const { writeSync } = fs;
  const textOf = chunk => (typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString());
  fs.writeSync = (fd, chunk, at, ...rest) => {
    if (fd !== 1 && fd !== 2) return writeSync(fd, chunk, at, ...rest);
    const part = typeof chunk === 'string' ? chunk : chunk.subarray(at || 0);
    said[fd] += textOf(part);
    return part.length;
  };
  process.stdout.write = chunk => {
    said[1] += textOf(chunk);
    return true;
  };
  process.stderr.write = chunk => {
    said[2] += textOf(chunk);
    return true;
  };
}

/** The line that runs now has ended with `status`. */
function end(status) {
  ended.push({ status, stdout: said[1], stderr: said[2], files: fs.readdirSync('.').sort() });
  said = { 1: '', 2: '' };
}

process.on('exit', status => {
  if (ended.length < lines.length) end(status);
  fs.writeFileSync(3, JSON.stringify(ended));
});

(async () => {
  capture();
  process.setMaxListeners(0); // each line adds its own, for a process that would be its own
  process.stdout.setMaxListeners(0);
  for (const line of lines) {
    process.argv = [process.execPath, COMMAND, ...line];
    process.exitCode = undefined;
    end(await main(process.argv));
  }
  process.exitCode = 0;
  process.exit(); // a line may leave a handle, as bin/kcovbox.cjs's process may
})();
