// All tests of the installed package, on each version of Node.js.
process.env['KCOVBOX_THOROUGH'] = '1';
await import('./package.guest.test.ts');
