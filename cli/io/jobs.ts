// `-j`: how many threads a command has.
import { Option } from 'commander';
import { parseWithin } from './values.ts';

const JOBS_MAX = 256;

export const jobsOption = (what = 'worker threads'): Option =>
  new Option('-j, --jobs <n>', `${what} (default: processors); no result depends on it`).argParser(
    parseWithin(1, JOBS_MAX),
  );
