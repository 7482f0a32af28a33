// The moments at which a run can be saved.

/**
 * `first-instruction`: of the first program in U-mode; `mark`: a moment that the guest marks, any
 * one or that of this number; else units since power-on.
 */
export type Moment = 'first-instruction' | { readonly mark: number | 'any' } | number;
