/** Chromium for tests: where it is, and the switches that keep it quiet and off the network. */
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
