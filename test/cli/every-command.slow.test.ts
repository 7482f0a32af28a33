// Each command with each of its streams closed, full, or without a reader.
process.env['KCOVBOX_THOROUGH'] = '1';
await import('./every-command.guest.test.ts');
