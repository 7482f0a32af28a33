// A library that the page loads when it is needed (web/views/load.ts).
export { Terminal } from '@xterm/xterm';
