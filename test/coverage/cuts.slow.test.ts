// The long dose of cuts.guest.test.ts.
process.env['KCOVBOX_CUTS'] ??= '10';
await import('./cuts.guest.test.ts');
