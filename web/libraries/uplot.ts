// A library that the page loads when it is needed (web/views/load.ts).
export { default } from 'uplot';
