/**
 * A program of one file (`ProgramOptions.file`) cannot tell the state of a line, because that
 * depends on lines of other files. A program of all files can.
 */
export class Undecided extends Error {}
