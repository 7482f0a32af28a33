// The report of `behaviour -b` about the areas that its tests left, and the part that may depend on
// more than kcov.

/** Lines "  TEST area N: COUNT HASH". */
export const leftAreas = (text: string): string[] =>
  text.split('\n').filter(line => /^ {2}\w+ area \d+: /.test(line));

/**
 * The operands of comparisons in the edu device's deferred work are times, which pass differently
 * when hooks take longer: there only the count is compared.
 */
export const withoutTimes = (lines: readonly string[]): string[] =>
  lines.map(line => (/collects_a_device area 1/.test(line) ? line.replace(/ \w+$/, '') : line));

/**
 * QEMU's board has no edu device, so its tests end early there, and /dev is shorter by one entry,
 * which the search for /dev/kcov by a thread that is still traced shows. The drivers took other
 * pages before: where page faults are compared with their page's address, only the count is looked
 * at.
 */
export const onAnyBoard = (lines: readonly string[]): string[] =>
  lines
    .filter(line => !/collects_a_device|close_while_enabled/.test(line))
    .map(line => (/comparisons_are_well_formed/.test(line) ? line.replace(/ \w+$/, '') : line));
