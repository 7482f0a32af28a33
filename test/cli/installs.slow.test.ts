// All tests of installs.guest.test.ts, and the one that takes half a minute.
process.env['KCOVBOX_THOROUGH'] = '1';
await import('./installs.guest.test.ts');
