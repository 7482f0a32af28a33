// Each wrong command line in a process of its own.
process.env['KCOVBOX_THOROUGH'] = '1';
await import('./wrong-lines.guest.test.ts');
