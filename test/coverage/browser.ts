/** Chromium for tests: its path, and the switches that disable messages and the network. */
export const CHROMIUM = '/usr/bin/chromium';
export const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
