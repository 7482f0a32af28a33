// The lines of the guest kernel's reports that name an address (kernel/lib/panic.c, opt/kasan).

/** A frame of a backtrace, or the site of an allocation. */
export const FRAME = /^ {2}\[<([0-9a-f]{16})>\]/;
/** The headline of KASAN has a return address, that of a bus error the access itself. */
export const SITE = /^(?:BUG: KASAN: .*|bus error at .*) in ([\w.$]+)\+0x([0-9a-f]+)$/;
/** A panic names the instruction that trapped; the first frame of its backtrace is the same. */
export const EXACT = /^panic: .*\bpc (?:0x)?([0-9a-f]{8,16})$/;

/** True for a line that gets a source line, or that tells about the next one. */
export const isReportLine = (line: string): boolean =>
  FRAME.test(line) || SITE.test(line) || EXACT.test(line);
