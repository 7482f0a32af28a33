// Types of packages.mjs for the tests.
interface Needed {
  readonly need: string;
  readonly names: readonly string[];
}
export const BUILD: readonly Needed[];
export const ORACLES: readonly Needed[];
