// The long dose of damaged files in the page (test/web/hostile.ts).
import { hostileTests } from './hostile.ts';

hostileTests(40, 10);
