// The long dose of booted.guest.test.ts.
process.env['KCOVBOX_RUNS'] ??= '50';
await import('./booted.guest.test.ts');
