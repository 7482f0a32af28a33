// Kernels that tests need besides the four personalities. `npm test` builds them before anything is
// timed (setup/test.mjs), so that no test's time contains a kernel's build.

/**
 * A kernel configuration; setup/kernels.mjs finds these calls in the source, so `conf` is a
 * literal.
 */
export const prebuilt = (conf: string): string => conf;

/**
 * The options of `kcovbox run` that choose a configuration whose fragments have options without
 * values.
 */
export const optionsFor = (conf: string): string[] => {
  const [dialect, ...fragments] = conf.split('+');
  return ['--dialect', dialect!, ...fragments.map(name => `--${name}`)];
};
