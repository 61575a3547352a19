// Hostile input, by name. Each case makes its input, which is not measured, and returns what is.
import { ChatClient, defineTool, RegexToolIndex, type Tool } from '../../src/index.js';
import type { JsonSchema } from '../../src/core/chat/tool-definition.js';
import { OpenAIChatModel } from '../../src/models/openai/index.js';
import { ScriptedChatModel } from '../../src/testing/index.js';
import { runSpec, type Mode } from '../../test/support/modes.js';
import { nested } from './values.js';

/** Runs the code under measurement once; resolves with what came of it. */
export type Run = () => Promise<string>;

/** @param baseURL of the hostile model */
type Case = (baseURL: string) => Run;

const EVIL = '^(a+)+$';
const TOOL = defineTool({ name: 'tool', execute: () => 'ok' });

/** The hostile model answers. */
const asking =
  (model: string, mode: Mode = 'call'): Case =>
  (baseURL) => {
    const chat = new OpenAIChatModel({ model, apiKey: 'sk-bench-of-event-loop', baseURL });
    return async () => {
      const spec = ChatClient.create(chat).prompt('Go.').tools(TOOL);
      return (await runSpec(mode, spec)).text ?? '';
    };
  };

/** A model calls the tool with these arguments, several times in one answer. */
function calling(tool: Tool, args: string, times: number): Run {
  const toolCalls = Array.from({ length: times }, () => ({ name: 'tool', arguments: args }));
  return async () => {
    const model = new ScriptedChatModel([{ toolCalls }, 'Done.']);
    await runSpec('call', ChatClient.create(model).prompt('Go.').tools(tool));
    const last = model.prompts[1]?.messages.at(-1);
    return last && 'content' in last && typeof last.content === 'string' ? last.content : '';
  };
}

/** Hostile arguments for a schema. */
const checking =
  (input: JsonSchema, args: () => unknown, times = 1): Case =>
  () =>
    calling(defineTool({ name: 'tool', input, execute: () => 'ok' }), textOf(args()), times);

const textOf = (args: unknown): string => (typeof args === 'string' ? args : JSON.stringify(args));

const resulting =
  (
    makeExecute: () => () => unknown,
    times = 1,
    options: { readonly timeout?: number } = {},
  ): Case =>
  () =>
    calling(defineTool({ name: 'tool', ...options, execute: makeExecute() }), '{}', times);

const list = <T>(length: number, item: (at: number) => T): T[] =>
  Array.from({ length }, (_, at) => item(at));

/** Formulas with four kinds of terms. */
function formulas(more: JsonSchema = {}): JsonSchema {
  const part = { $ref: '#/$defs/E' };
  const operation = (op: string): JsonSchema => ({
    type: 'object',
    properties: { op: { const: op }, l: part, r: part },
    required: ['op', 'l', 'r'],
    ...more,
  });
  const oneOf = [{ type: 'number' }, ...['add', 'mul', 'sub'].map(operation)];
  return { type: 'object', properties: { e: part }, $defs: { E: { oneOf } } };
}

const formula = (depth: number): unknown =>
  depth === 0 ? 'wrong' : { op: 'sub', l: formula(depth - 1), r: formula(depth - 1) };

const both = [{ $ref: '#/$defs/A' }, { $ref: '#/$defs/A' }];
const DOUBLED: JsonSchema = {
  type: 'object',
  properties: { n: { allOf: both } },
  $defs: { A: { properties: { n: { allOf: both } }, propertyNames: { maxLength: 3 } } },
};
const chain = (depth: number): object => (depth === 0 ? {} : { n: chain(depth - 1) });

const WORDS: JsonSchema = {
  type: 'object',
  properties: { words: { type: 'array', items: { enum: list(50_000, (at) => `word ${at}`) } } },
};
const PATTERNS: JsonSchema = {
  type: 'object',
  properties: { text: { type: 'string', pattern: EVIL } },
  patternProperties: { [EVIL]: { type: 'number' } },
};
const UNIQUE: JsonSchema = {
  type: 'object',
  properties: { list: { type: 'array', uniqueItems: true } },
};
const object = (at: number): object => ({ kind: 'a', tags: ['b', 'c'], at });
const rare = { propertyNames: { minLength: 1 } };

function searching(query: string): Case {
  return () => {
    const index = new RegexToolIndex();
    const inputSchema = { type: 'object' };
    const description = 'a'.repeat(1_000);
    const references = list(5_000, (at) => ({ name: `tool_${at}`, description, inputSchema }));
    index.index({ session: 's', references });
    return async () => {
      const found = await index.search({ session: 's', query });
      return `${found.references.length} tools`;
    };
  };
}

export const CASES: Readonly<Record<string, Case>> = {
  'nothing (noise)': () => async () => '',
  'error page of 50 KB of <': asking('page of 50 KB'),
  'error page of 200 KB of <': asking('page of 200 KB'),
  'error page of 256 KB of <': asking('page of 256 KB'),
  'error page of 256 KB of <script': asking('page of scripts'),
  'error page of 256 KB of blanks': asking('page of blanks'),
  'error of 240 KB of beginnings of keys': asking('error without end'),
  'stream of 1,000,000 events': asking('stream of events', 'stream'),
  'stream of 1,000,000 comments': asking('stream of comments', 'stream'),
  'event of 15 MiB: text': asking('event of text', 'stream'),
  'event of 15 MiB: empty lists': asking('event of lists', 'stream'),
  'event of 1,000,000 lines': asking('event in lines', 'stream'),
  'document of 16 MiB: text': asking('document of text'),
  'document of 16 MiB: escapes': asking('document of escapes'),
  'document of 16 MiB: objects': asking('document of objects'),
  'document of 16 MiB: empty lists': asking('document of lists'),
  'document of 16 MiB, cut off': asking('document cut off'),
  'document of 100,000 levels': asking('deep document'),
  'arguments of 100,000 levels': asking('deep arguments'),
  'arguments of 190 levels, 1 MB': checking(
    {},
    () => `{"a":[${`${nested(190)},`.repeat(2_600)}1]}`,
  ),
  'arguments of 1 MB, 40 calls': checking({}, () => `{"a":[${'{},'.repeat(330_000)}1]}`, 40),
  'arguments of 15 MiB, cut off': asking('arguments cut off'),
  'formula of depth 9': checking(formulas(), () => ({ e: formula(9) })),
  'formula of depth 12': checking(formulas(), () => ({ e: formula(12) })),
  'formula of depth 12, rare keyword': checking(formulas(rare), () => ({ e: formula(12) })),
  'formula of depth 9, 40 calls': checking(formulas(rare), () => ({ e: formula(9) }), 40),
  'allOf: [A, A], 100 levels': checking(DOUBLED, () => chain(100)),
  'uniqueItems of 4,000 objects': checking(UNIQUE, () => ({ list: list(4_000, object) })),
  'uniqueItems of 4,000 objects, rare keyword': checking({ ...UNIQUE, ...rare }, () => ({
    list: list(4_000, object),
  })),
  'enum of 50,000, one word': checking(WORDS, () => ({ words: ['no word'] })),
  'enum of 50,000, 1,000 words': checking(WORDS, () => ({ words: list(1_000, () => 'no word') })),
  [`pattern ${EVIL}`]: checking(PATTERNS, () => ({ text: `${'a'.repeat(5_000)}!` })),
  [`name by the pattern ${EVIL}`]: checking(PATTERNS, () => ({ [`${'a'.repeat(5_000)}!`]: 'x' })),
  [`search by ${EVIL}`]: searching(EVIL),
  'search by (a|aa)+(a|aa)+b': searching('(a|aa)+(a|aa)+b'),
  'result of 2,000 fields of 1 MB': resulting(() => {
    const fields = list(2_000, (at): [string, PropertyDescriptor] => [
      `field${at}`,
      { enumerable: true, get: () => 'x'.repeat(1_000_000) },
    ]);
    const value = Object.defineProperties({}, Object.fromEntries(fields));
    return () => value;
  }),
  'result of 1,000,000 numbers': resulting(() => {
    const value = list(1_000_000, (at) => at);
    return () => value;
  }),
  'result of 150,000 numbers, 16 at a time': resulting(() => {
    const value = list(150_000, (at) => at);
    return () => value;
  }, 40),
  'result of 100,000 levels': resulting(() => {
    const value = list(100_000, String).reduce<object>((inner) => ({ inner }), {});
    return () => value;
  }),
  '20,000 tool calls': asking('tool calls'),
  '20,000 tool calls, streamed': asking('streamed tool calls', 'stream'),
  '20,000 calls of unknown tools': asking('unknown tool calls'),
  '20,000 reasoning details': asking('reasoning details'),
  '20,000 reasoning details, streamed': asking('streamed reasoning details', 'stream'),
  'endless generator, timeout 300 ms': resulting(
    () =>
      function* () {
        for (;;) yield 1;
      },
    1,
    { timeout: 300 },
  ),
  'endless async generator, timeout 300 ms': resulting(
    () =>
      async function* () {
        for (;;) yield 1;
      },
    1,
    { timeout: 300 },
  ),
};
