import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import * as advisors from '../../advisors/index.js';
import { AdvisorOrder, type Advisor } from '../../src/core/advisor/advisor.js';
import { InMemoryKeyValueStore } from '../../src/stores/key-value/in-memory-key-value-store.js';
import { InMemoryChatMemoryRepository } from '../../src/stores/chat-memory/in-memory-chat-memory-repository.js';
import { MessageWindowChatMemory } from '../../src/stores/chat-memory/message-window-chat-memory.js';
import { SteeringInbox } from '../../advisors/steering/steering-inbox.js';
import { InMemoryVectorStore } from '../../src/stores/vectors/in-memory-vector-store.js';
import { ScriptedChatModel } from '../../src/testing/index.js';
import { KeywordToolIndex } from '../../src/stores/tool-indexes/keyword-tool-index.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

interface Option {
  readonly isRequired: boolean;
  readonly default: string | undefined;
}
type Options = ReadonlyMap<string, Option>;

const sources = ['advisors', 'src/core/advisor', 'src/core/tool-execution', 'src/stores']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(
      (file) => `${folder}/${file}`,
    ),
  )
  .filter((path) => path.endsWith('.ts'))
  .map(read)
  .join('\n');

/** The fields of an interface and of those that it extends, with the text of `@default`. */
function optionsOf(type: string): Options {
  const found = new RegExp(`^export interface ${type}\\b([^{]*)\\{\\n([^]*?)^\\}`, 'm').exec(
    sources,
  );
  const [, heading = '', body = ''] = found ?? [];
  const parents = /(?:.*\b)extends (.+?)\s*$/s.exec(heading)?.[1]?.split(/,\s*/) ?? [];
  const field = /((?:^ {2}\/\*\*(?:(?!\*\/)[^])*\*\/\n)?)^ {2}readonly (\w+)(\??):/gm;
  const own = [...body.matchAll(field)].map(
    ([, comment = '', name = '', optional]): [string, Option] => [
      name,
      {
        isRequired: optional === '',
        default: /@default ([^]*?)\s*(?:\*\/|\n)/.exec(comment)?.[1],
      },
    ],
  );
  return new Map([...parents.flatMap((parent) => [...optionsOf(parent)]), ...own]);
}

/** The rows of the table of options of a page: the names of a row, and its default. */
function rowsOf(page: string): ReadonlyMap<string, string> {
  const table = /^\| option +\|.*\n\|[- |]+\|\n((?:\|.*\n?)+)/m;
  const all = [...read(page).matchAll(new RegExp(table, 'gm'))].map(([, rows = '']) => rows);
  const rows = all.find((each) => each.includes('| `order` '))?.split('\n') ?? [];
  return new Map(
    rows.flatMap((row) => {
      const cells = row.split(' | ');
      const value = (cells.at(-1) ?? '').replace(/\|\s*$/, '').trim();
      return [...(cells[0] ?? '').matchAll(/`(\w+)`/g)].map(([, name = '']) => [name, value] as const); // prettier-ignore
    }),
  );
}

const LITERAL =
  /^(-?[\d_]+(\.\d+)?|'[^']*'|true|false|none|AdvisorOrder\.\w+( [+-] \d+)?)(?=[,:]|$)/;

/** A default as the pages and the sources both write it. */
const plain = (text: string): string =>
  text.replaceAll(/[`',\s]|AdvisorOrder\.|(?<=\d)_(?=\d)/g, '');

const model = new ScriptedChatModel([]);
const chatMemory = new MessageWindowChatMemory({ repository: new InMemoryChatMemoryRepository() });
const store = new InMemoryKeyValueStore();
const policies = [{ rules: { name: 'none', check: () => ({ flagged: false }) }, action: 'block' }] as const; // prettier-ignore

/** The name of each page, and the advisor with its defaults. */
const ADVISORS: Readonly<Record<string, Advisor>> = {
  approval: new advisors.ApprovalAdvisor(),
  budget: new advisors.BudgetAdvisor({ maxTokens: 1 }),
  compaction: new advisors.CompactionAdvisor({ maxTokens: 1_000 }),
  'conversation-lock': new advisors.ConversationLockAdvisor(),
  defaults: new advisors.DefaultsAdvisor({}),
  'dry-run': advisors.dryRun(),
  durable: new advisors.DurableAdvisor({ engine: () => undefined }),
  fallback: new advisors.FallbackAdvisor({ models: [model] }),
  guard: new advisors.GuardAdvisor({ input: policies }),
  logger: new advisors.LoggerAdvisor(),
  'message-chat-memory': new advisors.MessageChatMemoryAdvisor({ chatMemory }),
  'model-router': advisors.modelRouter({ models: { a: model }, choose: () => 'a' }),
  observability: new advisors.ObservabilityAdvisor(),
  'prompt-cache': new advisors.PromptCacheAdvisor(),
  'provider-tool-search': new advisors.ProviderToolSearchAdvisor({ searchTool: { type: 'x' } }),
  'rate-limit': new advisors.RateLimitAdvisor({ requestsPerMinute: 1 }),
  're-reading': new advisors.ReReadingAdvisor(),
  'reasoning-extractor': new advisors.ReasoningExtractor(),
  'response-cache': new advisors.ResponseCacheAdvisor({ scope: () => 'x' }),
  retrieval: new advisors.RetrievalAdvisor({
    retriever: { retrieve: async () => [] },
    scope: () => 'x',
  }),
  retry: new advisors.RetryAdvisor(),
  'safe-guard': new advisors.SafeGuardAdvisor({ sensitiveWords: ['x'] }),
  'simulated-streaming': new advisors.SimulatedStreamingAdvisor(),
  steering: new advisors.SteeringAdvisor({ inbox: new SteeringInbox() }),
  'structured-output': new advisors.StructuredOutputAdvisor(),
  timeout: new advisors.TimeoutAdvisor({ iteration: 1 }),
  'tool-cache': new advisors.ToolCacheAdvisor({ scope: () => 'x' }),
  'tool-calling': new advisors.ToolCallingAdvisor(),
  'tool-ledger': new advisors.ToolLedgerAdvisor({ store }),
  'tool-search': new advisors.ToolSearchAdvisor({ toolIndex: new KeywordToolIndex() }),
  'vector-memory': new advisors.VectorMemoryAdvisor({
    store: new InMemoryVectorStore(),
    embeddingModel: { embed: async () => ({ vectors: [], usage: undefined, model: undefined }) },
    scope: () => 'x',
  }),
  'tool-selector': new advisors.ToolSelectorAdvisor({ model }),
};

/** The number that a page writes, such as `LOGGER` + 400, or 9,000. */
function orderOf(text: string): number {
  const [, slot, offset = '0'] = /^([A-Z_]+)([+-]\d+)?/.exec(plain(text)) ?? [];
  if (slot === undefined) return Number(plain(text));
  return AdvisorOrder[slot as keyof typeof AdvisorOrder] + Number(offset);
}

describe('the page of each advisor', () => {
  const index = read('docs/advisors/index.md');
  const listed = [...index.matchAll(/^\| \[(\w+)\]\(([\w-]+)\.md\) +\| (.+?) +\|/gm)];

  it('is in the index, with an export of its name', () => {
    expect(listed.map(([, , page]) => page)).to.have.members(Object.keys(ADVISORS));
    for (const [, name = ''] of listed) expect(advisors).to.have.property(name);
    for (const page of Object.keys(ADVISORS))
      expect(existsSync(join(root, `docs/advisors/${page}.md`))).to.equal(true);
  });

  for (const [, name = '', page = '', order = ''] of listed) {
    const type = ['AdvisorOptions', 'Options'].map((end) => name.replace(/Advisor$/, '') + end);
    const options = type.map((each) => optionsOf(each[0]?.toUpperCase() + each.slice(1)));
    const code = options.find(({ size }) => size > 0) ?? new Map<string, Option>();
    const rows = rowsOf(`docs/advisors/${page}.md`);

    it(`has the options of ${name}, with their defaults`, () => {
      expect([...rows.keys()]).to.have.members([...code.keys()]);
      for (const [option, { isRequired, default: value }] of code) {
        if (isRequired) expect(rows.get(option), option).to.equal('required');
        const literal = LITERAL.exec(value ?? '')?.[0];
        if (literal !== undefined)
          expect(plain(rows.get(option) ?? ''), option).to.include(plain(literal));
      }
    });

    it(`has the name and the order of ${name}`, () => {
      const advisor = ADVISORS[page];

      expect(orderOf(order), 'index').to.equal(advisor?.order);
      expect(orderOf(rows.get('order') ?? ''), 'page').to.equal(advisor?.order);
      if (rows.has('name')) expect(plain(rows.get('name') ?? '')).to.include(plain(advisor?.name ?? '')); // prettier-ignore
    });
  }
});
