// The boundary between code and data in RAM, for regions without translation: no page from `first`
// on holds code, so their stores from there on need not consult the map of code pages. When code
// appears above the boundary, the boundary rises, and the modules that relied on it are dropped. If
// a guest raises it too often, the boundary goes to the end of RAM, so every store uses the slower
// test.

import type { CompiledModule } from './entry-points.ts';

/** Times that code may appear above all known code while modules rely on the boundary. */
const MOST_RAISES = 100;

export class DataBoundary {
  /** First RAM page above all code. */
  first = 0;
  readonly #pages: number;
  readonly #drop: (module: CompiledModule) => void;
  readonly #reliant = new Set<CompiledModule>();
  #raises = 0;

  /** `pages`: all of RAM; `drop` drops a module. */
  constructor(pages: number, drop: (module: CompiledModule) => void) {
    this.#pages = pages;
    this.#drop = drop;
  }

  /** The module's stores from `first` on skip the test. */
  rely(module: CompiledModule): void {
    this.#reliant.add(module);
  }

  dropped(module: CompiledModule): void {
    this.#reliant.delete(module);
  }

  /** Called when a RAM page holds code or must be watched. */
  raise(page: number): void {
    if (page < this.first) return;
    const isRelied = this.#reliant.size > 0;
    if (isRelied) this.#raises++;
    this.#raiseTo(this.#raises > MOST_RAISES ? this.#pages : page + 1);
  }

  /** Every store must look into the map from now on. */
  raiseToEnd(): void {
    this.#raiseTo(this.#pages);
  }

  #raiseTo(first: number): void {
    this.first = first;
    for (const module of this.#reliant) this.#drop(module);
    this.#reliant.clear();
  }
}
