// A dose of options.slow.test.ts: two options. KCOVBOX_OPTIONS_SEED=N takes others.
import { options, testsAlone } from './options.ts';

const seed = Number(process.env.KCOVBOX_OPTIONS_SEED ?? 7);
const chosen = [seed, seed + Math.floor(options.length / 2)].map(at => options[at % options.length]!.name);

testsAlone(chosen, ['linux']);
