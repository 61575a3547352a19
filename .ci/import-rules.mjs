// Import rules: what each folder may import, besides itself. A new folder costs one line.
// Usage: node .ci/import-rules.mjs [folder to check, default: the repository]
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { posix, resolve } from 'node:path';

// Concepts, lowest first: each may import the rows above it that it names.
const CHAT = ['errors', 'internal', 'chat'];
const TOOL = [...CHAT, 'observation', 'json-schema', 'embedding', 'key-value', 'memory', 'tool'];
const ADVISOR = [
  ...TOOL,
  'tool-execution',
  'tool-search',
  'recorded-calls',
  'observability',
  'budget',
  'compaction',
  'guard',
  'prompt-cache',
  'steering',
  'lock',
  'rate-limit',
  'durable',
  'approval',
  'advisor',
];

const MAY_IMPORT = {
  errors: [],
  internal: ['errors'],
  chat: CHAT,
  observation: CHAT,
  'json-schema': CHAT,
  embedding: CHAT,
  'key-value': CHAT,
  memory: [...CHAT, 'observation'],
  databases: CHAT,
  tool: TOOL,
  'tool-execution': TOOL,
  'recorded-calls': [...TOOL, 'tool-execution'],
  observability: [...CHAT, 'observation'],
  'tool-search': TOOL,
  advisor: ADVISOR,
  budget: ADVISOR,
  compaction: ADVISOR,
  lock: [...CHAT, 'key-value'],
  'rate-limit': ADVISOR,
  guard: ADVISOR,
  'prompt-cache': ADVISOR,
  steering: ADVISOR,
  durable: ADVISOR,
  approval: ADVISOR,
  client: ADVISOR,
  // Shelves of interchangeable parts import the concepts that they implement.
  'memory-repositories': [...CHAT, 'databases', 'memory'],
  'key-value-stores': [...CHAT, 'databases', 'key-value'],
  'models/http': [...CHAT, 'embedding'],
  'models/anthropic': [...TOOL, 'models/http'],
  'models/cohere': [...TOOL, 'models/http'],
  'models/google': [...TOOL, 'models/http'],
  'models/ollama': [...TOOL, 'models/http'],
  'models/openai': [...TOOL, 'guard', 'models/http'],
  'models/ai-sdk': [...ADVISOR, 'client', 'models/http'],
  'models/prompted-tools': TOOL,
  'tool-indexes': [...TOOL, 'tool-search'],
  mcp: [...ADVISOR, 'client', 'models/http'],
  'durable-engines': [...ADVISOR, 'client'],
  // Parts on top of the whole library.
  index: '*',
  evaluation: [...TOOL, 'tool-search', 'recorded-calls', 'tool-indexes'],
  testing: [...ADVISOR, 'client', 'tool-indexes'],
  advisors: ADVISOR,
};
/** Folders that may use Node.js; everything else runs anywhere. */
const NODE = [
  'databases',
  'durable-engines',
  'evaluation',
  'key-value-stores',
  'memory-repositories',
  'testing',
];

const root = resolve(process.argv[2] ?? '.');

/** The row of a path: `models/openai` of src/models/openai/x.ts, `errors` of src/errors.ts. */
function rowOf(path) {
  const name = path.replace(/^src\//, '').replace(/\.ts$/, '');
  return Object.keys(MAY_IMPORT).find((row) => name === row || name.startsWith(`${row}/`));
}

function violation(file, specifier) {
  const row = rowOf(file);
  if (!row) return 'has no row in .ci/import-rules.mjs';
  if (/^rxjs(\/|$)/.test(specifier))
    return file === 'src/internal/rxjs.ts' ? undefined : 'only src/internal/rxjs.ts imports rxjs';
  if (specifier.startsWith('node:'))
    return NODE.includes(row) ? undefined : `only ${NODE.join(', ')} may import node:`;
  if (/^advisor-chain(\/|$)/.test(specifier)) return 'imports its own package by name';
  if (!specifier.startsWith('.')) return undefined;
  const target = posix.join(posix.dirname(file), specifier).replace(/\.js$/, '.ts');
  const to = rowOf(target);
  if (row === 'advisors' && to === 'advisors' && file !== 'advisors/index.ts')
    return 'advisors do not import one another';
  if (to === row || MAY_IMPORT[row] === '*' || MAY_IMPORT[row].includes(to)) return undefined;
  return `${row} may import ${MAY_IMPORT[row].join(', ') || 'nothing of ours'}; not ${to ?? target}`;
}

const IMPORT = /(?:\bfrom\s*|\bimport\s*\(?\s*)'([^']+)'/g;
const files = ['src', 'advisors']
  .filter((folder) => existsSync(posix.join(root, folder)))
  .flatMap((folder) =>
    readdirSync(posix.join(root, folder), { recursive: true }).map(
      (path) => `${folder}/${String(path)}`,
    ),
  )
  .filter((path) => path.endsWith('.ts'));
const found = files.flatMap((file) =>
  [...readFileSync(posix.join(root, file), 'utf8').matchAll(IMPORT)].flatMap(([, specifier]) => {
    const problem = violation(file, specifier);
    return problem ? [`${file}: '${specifier}': ${problem}`] : [];
  }),
);
for (const line of found) console.error(line);
process.exitCode = found.length > 0 ? 1 : 0;
