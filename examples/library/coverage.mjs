// Reads a trace and the image it was recorded on. Usage: node coverage.mjs run.kcov kernel.elf
import { readFileSync, writeFileSync } from 'node:fs';
import { diffCoverage, Image, measure, readTrace } from 'kcovbox/coverage';

const [, , tracePath, imagePath] = process.argv;
const trace = readTrace(readFileSync(tracePath), tracePath);
const image = new Image(readFileSync(imagePath), imagePath);
console.log(
  `${trace.dialect}, tests ${trace.tests.join(' ')}: ${trace.count} records at ${trace.pcs.length} PCs`,
);

// Where the first record was made, inlined calls included.
for (const pc of trace.pcs.slice(0, 1))
  for (const { function: name, file, line } of image.symbolize(pc)) console.log(`  ${name} ${file}:${line}`);

// The functions with the most points that ran.
const coverage = measure(trace, image);
const most = coverage.functions().sort((a, b) => b.points.covered - a.points.covered);
for (const { name, points } of most.slice(0, 3))
  console.log(`  ${name}: ${points.covered} of ${points.total}`);

// The lines of the first file that ran. A line is never called uncovered without proof.
const ran = coverage.files().filter(file => file.totals.lines.covered > 0);
for (const { path, lines } of ran.slice(0, 1)) {
  const states = lines.map(({ line, state }) => `${line} ${state}`);
  console.log(`${path}: ${states.slice(0, 3).join(', ')}, ...`);
}

// The points reached in functions of one name, and those of the rest of the trace.
const part = trace.filter({ places: { image, select: { functions: '^file_' } } });
const { points } = diffCoverage(measure(part, image), coverage);
console.log(`${points.both} points in both, ${points.onlyB} in the whole trace alone`);

writeFileSync('run.info', coverage.export('lcov'));
