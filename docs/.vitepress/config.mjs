// The documents as a site: `npm run docs` writes dist/docs and fails on a dead link. The sidebar is
// ordered by reader.
import { defineConfig } from 'vitepress';

const page = (text, link) => ({ text, link });

/**
 * Cells of a row begin side by side; on a phone more of a table fits, and the rest scrolls. The
 * theme has no rules for indented code blocks: they get the look of fenced ones.
 */
const STYLE = `
.vp-doc td { vertical-align: top; }
.vp-doc pre:not([class]) {
  overflow-x: auto;
  margin: 16px 0;
  padding: 16px 24px;
  border-radius: 8px;
  background: var(--vp-code-block-bg);
}
.vp-doc pre:not([class]) code {
  padding: 0;
  background: none;
  color: var(--vp-code-block-color);
  font-size: var(--vp-code-font-size);
  line-height: var(--vp-code-line-height);
}
@media (max-width: 640px) {
  .vp-doc table { font-size: 13px; }
  .vp-doc th, .vp-doc td { padding: 5px 7px; }
  .vp-doc td { line-height: 20px; }
  .vp-doc pre:not([class]) { padding: 16px; }
}`;

export default defineConfig({
  head: [['style', {}, STYLE]],
  title: 'kcovbox',
  description: 'A whole-system RISC-V emulator with kcov in four dialects',
  base: process.env.DOCS_BASE ?? '/',
  outDir: '../dist/docs',
  cacheDir: '../.cache/vitepress',
  lastUpdated: false,
  markdown: { languageAlias: { wat: 'lisp' } },
  vite: { logLevel: 'warn' },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    sidebar: [
      {
        text: 'Tutorials',
        items: [
          page('For the researcher', '/tutorials/researcher'),
          page('For the driver author', '/tutorials/driver-author'),
          page('For the student', '/tutorials/student'),
          page('Your first device', '/tutorials/own-device'),
        ],
      },
      {
        text: 'Devices with drivers',
        items: [
          page('A DMA ring', '/pairs/ring'),
          page('A disk that reorders', '/pairs/disk'),
          page('A sensor on a two-wire bus', '/pairs/sensor'),
        ],
      },
      {
        text: 'Library',
        items: [
          page('Use from JavaScript', '/library'),
          page('kcovbox/emulator', '/api/emulator'),
          page('kcovbox/coverage', '/api/coverage'),
          page('kcovbox/node', '/api/node'),
          page('kcovbox/fuzz', '/api/fuzz'),
          page('kcovbox/device', '/api/device'),
        ],
      },
      {
        text: 'Concepts',
        items: [
          page('Architecture', '/architecture'),
          page('Determinism', '/determinism'),
          page('Experiments', '/research'),
          page('The interpreter', '/interpreter'),
          page('The region JIT', '/jit'),
          page('kcov in four dialects', '/kcov-dialects'),
          page('Coursework', '/teaching'),
          page('The guest kernel', '/kernel'),
          page('Locks of the guest kernel', '/locks'),
          page('Writing a driver', '/drivers'),
          page('Fuzzing', '/fuzzing'),
          page('Historical bugs', '/bugs'),
          page('Debugging', '/debugging'),
          page('The page', '/page'),
          page('Threat model', '/threat-model'),
          page('Oracles', '/oracles'),
          page('Performance', '/performance'),
          page('Reading guide', '/reading-guide'),
        ],
      },
      {
        text: 'Reference',
        items: [
          page('Command line', '/cli'),
          page('Exit status', '/exit-status'),
          page('Environment variables', '/environment'),
          page('Coverage and its formats', '/coverage-formats'),
          page('Schemas of files', '/schemas'),
          page('Capsules', '/capsules'),
          page('Devices', '/devices'),
          page('CSRs', '/csrs'),
          page('Extensions', '/isa'),
        ],
      },
      page('FAQ', '/faq'),
    ],
  },
});
