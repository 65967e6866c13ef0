// Every benchmark, those of the command and those that only developers need, and two builds against each other: see bench/README.md.
import { benchMain } from '../dist/bench/main.js';

process.exitCode = await benchMain(process.argv.slice(2));
