// The frame of a workload compiled to wasm32: node wasm-host.mjs FILE WARM_UP REPEAT.
// The speed of compiled wasm is the ceiling of a JIT that emits it.
import { readFileSync, writeSync } from 'node:fs';

const [file, warmUp, repeat] = process.argv.slice(2);
const { exports } = new WebAssembly.Instance(new WebAssembly.Module(readFileSync(file)));
let check = 0n;
for (let i = 0; i < Number(warmUp); i++) check += exports.work();
writeSync(1, 'begin\n');
for (let i = 0; i < Number(repeat); i++) check += exports.work();
writeSync(1, `end ${BigInt.asUintN(64, check).toString(16).padStart(16, '0')}\n`);
