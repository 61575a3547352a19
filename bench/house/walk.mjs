// One scenario on the transpiled sources, in a process of its own: which files and functions it enters, by the coverage of V8, and
// the stack where the model is called. Usage: node walk.mjs FOLDER SCENARIO
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { SCENARIOS, toolsOf } from './scenarios.mjs';

const [, , folder, name] = process.argv;
Error.stackTraceLimit = Infinity;
const base = `${pathToFileURL(folder).href}/`;
const session = new Session();
session.connect();

const load = (path) => import(pathToFileURL(join(folder, path)).href);

/** The functions that have run since the last time, by file. */
async function takeCoverage() {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const own = result.filter(({ url }) => /^(src|advisors)\//.test(url.replace(base, '')));
  return own.map(({ functions }) => functions.filter(({ ranges }) => ranges[0].count > 0));
}

const isNamed = ({ functionName }) => functionName !== '' && !functionName.startsWith('<');

function countOf(files, isCounted) {
  const counts = files.map((functions) => functions.filter(isCounted).length);
  return {
    files: counts.filter((count) => count > 0).length,
    functions: counts.reduce((sum, count) => sum + count, 0),
  };
}

/** Frames of our own and of RxJS. */
function framesOf(stack) {
  const lines = stack.split('\n');
  const own = lines.filter((line) => line.includes(base) && !line.includes('/node_modules/'));
  const rxjs = lines.filter((line) => line.includes('/rxjs/'));
  return { own: own.length, rxjs: rxjs.length };
}

await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
let stack = '';
const library = {
  ...(await load('src/index.js')),
  Observable: (await load('node_modules/rxjs/dist/cjs/index.js')).default.Observable,
  onModel: () => (stack ||= new Error('stack').stack),
};
const tools = toolsOf(library);
const prepared = SCENARIOS[name](library, tools);
await prepared(1); // what is made once, when it is first needed
const frames = framesOf(stack);

await takeCoverage();
await prepared(2);
const named = countOf(await takeCoverage(), isNamed);
await SCENARIOS[name](library, tools)(3);
const whole = countOf(await takeCoverage(), () => true);
console.log(JSON.stringify({ whole, named, frames }));
