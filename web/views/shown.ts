// The place that the source view shows.

/** A line that is shown. */
export interface Shown {
  readonly file: string;
  readonly line: number;
}
