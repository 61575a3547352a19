import { frozenCopy, frozenFields, frozenList } from '../internal/frozen-copy.js';
import {
  BOOLEAN,
  checkOption,
  checkOptions,
  integer,
  isPlainObject,
  numberBetween,
  oneOf,
  PLAIN_OBJECT,
  rule,
  TEXT,
  type Rule,
} from '../internal/options.js';
import type { JsonSchema, OfferedTool } from './tool-definition.js';

/** Options of a model call. Absent options are set by the layer below (client, model, provider). */
export interface ChatOptions {
  /** Name of the model. */
  readonly model?: string | undefined;
  /** Sampling temperature, >= 0. */
  readonly temperature?: number | undefined;
  /** Nucleus sampling, 0 to 1. */
  readonly topP?: number | undefined;
  /** Number of candidates to sample from, >= 1; supported by few providers. */
  readonly topK?: number | undefined;
  /** -2 to 2. */
  readonly frequencyPenalty?: number | undefined;
  /** -2 to 2. */
  readonly presencePenalty?: number | undefined;
  /** Maximum number of tokens of the answer; ignored if `maxCompletionTokens` is set. */
  readonly maxTokens?: number | undefined;
  /** Maximum number of tokens of the answer, including reasoning. */
  readonly maxCompletionTokens?: number | undefined;
  /** Texts at which the model stops. Layers add to them. */
  readonly stopSequences?: readonly string[] | undefined;
  /** Seed for a repeatable answer. */
  readonly seed?: number | undefined;
  /** Forces or forbids tool calls; a forced choice applies to the first iteration of a turn. */
  readonly toolChoice?: ToolChoice | undefined;
  /** Allows several tool calls in one answer. */
  readonly parallelToolCalls?: boolean | undefined;
  /** Asks the provider to enforce tool schemas. */
  readonly strictTools?: boolean | undefined;
  /** Format of the answer. */
  readonly responseFormat?: ResponseFormat | undefined;
  /** Effort of a reasoning model, such as `low`, `medium` or `high`. */
  readonly reasoningEffort?: string | undefined;
  /** Reports the probabilities of the tokens. */
  readonly logprobs?: boolean | undefined;
  /** Number of alternatives to report for each token, 0 to 20; needs `logprobs`. */
  readonly topLogprobs?: number | undefined;
  /** End user, for the provider's abuse detection. */
  readonly user?: string | undefined;
  /** Labels that the provider stores with the request. Layers add to them. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** Other fields of the request body, which override options. Layers add to them. */
  readonly extraBody?: Readonly<Record<string, unknown>> | undefined;
  /** Tools to offer. Clients add to a model's tools; the prompt of a model has all of them. */
  readonly tools?: readonly OfferedTool[] | undefined;
  /** Tools that the provider runs, in its own format; sent after the others. Layers add to them. */
  readonly providerTools?: readonly Readonly<Record<string, unknown>>[] | undefined;
  /** Parts that the provider caches, where its API needs marks (Anthropic); ignored elsewhere. */
  readonly promptCache?: PromptCache | undefined;
  /** Values for tools, never sent to the model. Layers add to them. */
  readonly toolContext?: ToolContextValues | undefined;
}

/**
 * Parts of a request that the provider keeps in its prompt cache, and for how long, which is never longer
 * than for a part before it. A part includes all parts before it: tools, system texts, messages.
 */
export interface PromptCache {
  readonly tools?: '5m' | '1h' | undefined;
  /** Tools and system texts. */
  readonly system?: '5m' | '1h' | undefined;
  /** The whole conversation, for the next request that continues it. */
  readonly messages?: '5m' | '1h' | undefined;
}

/** Values for tools, by name. */
export type ToolContextValues = Readonly<Record<string, unknown>>;

/** `required`: at least one call; `{ tool }`: a call of this tool. */
export type ToolChoice = 'auto' | 'none' | 'required' | { readonly tool: string };

/** `json`: a JSON object without a schema; with a schema: JSON that fits it, if the provider can enforce that. */
export type ResponseFormat =
  | 'text'
  | 'json'
  | {
      readonly schema: JsonSchema;
      /** @default 'response' */
      readonly name?: string;
      /** @default true */
      readonly strict?: boolean;
    };

const LISTS = ['stopSequences', 'tools', 'providerTools'] as const;
const MAPS = ['metadata', 'extraBody', 'toolContext'] as const;
const JOINED: ReadonlySet<string> = new Set([...LISTS, ...MAPS]);

/** Merges the options of two layers: set values of `over` win; lists and maps are joined. */
export function mergeOptions(base: ChatOptions, over: ChatOptions | undefined): ChatOptions {
  if (!over || over === base) return base;
  const merged: Record<string, unknown> = { ...base };
  for (const [name, value] of Object.entries(over))
    if (value !== undefined && name !== '__proto__') merged[name] = value;
  // two names of one limit: the upper layer overrides both
  if (over.maxTokens !== undefined && over.maxCompletionTokens === undefined)
    delete merged['maxCompletionTokens'];
  if (over.maxCompletionTokens !== undefined && over.maxTokens === undefined)
    delete merged['maxTokens'];
  for (const list of LISTS)
    if (base[list] && over[list]) merged[list] = joinLists(list, base[list], over[list]);
  for (const map of MAPS) if (base[map] && over[map]) merged[map] = { ...base[map], ...over[map] };
  return merged;
}

/** Without repetitions: layers repeat the items of those below them. */
function joinLists(
  name: (typeof LISTS)[number],
  base: readonly unknown[],
  over: readonly unknown[],
): readonly unknown[] {
  if (name !== 'providerTools') return [...new Set([...base, ...over])];
  return [...base, ...over.filter((item) => !base.some((known) => isSame(item, known)))];
}

const frozen = new WeakSet<ChatOptions>();

/** A copy that nothing can change. Tools, and the values of the tool context, are shared. */
export function frozenOptions(options: ChatOptions): ChatOptions {
  if (frozen.has(options)) return options;
  const { tools, toolContext, ...data } = options;
  const copy = Object.freeze({
    ...frozenCopy(data),
    ...(tools && { tools: frozenList(tools) }),
    ...(toolContext && { toolContext: frozenFields(toolContext) }),
  });
  frozen.add(copy);
  return copy;
}

/**
 * Merges the options of a prompt with the default options of its model. Tools of the prompt are
 * complete: a client has added the model's, or left some of them out.
 */
export function withModelDefaults(defaults: ChatOptions, options: ChatOptions): ChatOptions {
  const merged = mergeOptions(defaults, options);
  return options.tools && defaults.tools ? { ...merged, tools: options.tools } : merged;
}

/** The options without those that a layer below has set: what was merged on top of it. */
export function withoutDefaults(options: ChatOptions, defaults: ChatOptions): ChatOptions {
  const own: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(options))
    if (JOINED.has(name) || !isSame(value, defaults[name as keyof ChatOptions])) own[name] = value;
  for (const list of LISTS) {
    const known: readonly unknown[] = defaults[list] ?? [];
    const same = list === 'tools' ? Object.is : isSame;
    const isKnown = (item: unknown): boolean => known.some((other) => same(item, other));
    if (own[list]) own[list] = options[list]?.filter((item: unknown) => !isKnown(item));
  }
  for (const map of MAPS) {
    const known: Readonly<Record<string, unknown>> = defaults[map] ?? {};
    const same = map === 'toolContext' ? Object.is : isSame;
    const entries = Object.entries(options[map] ?? {});
    if (own[map])
      own[map] = Object.fromEntries(entries.filter(([name, value]) => !same(value, known[name])));
  }
  for (const name of JOINED) if (Object.keys(own[name] ?? {}).length === 0) delete own[name];
  return own;
}

/** Compares by value: prompts have copies of the data of the layers. */
function isSame(a: unknown, b: unknown): boolean {
  return a === b || (typeof a === 'object' && JSON.stringify(a) === JSON.stringify(b));
}

const PENALTY = numberBetween(-2, 2);

const DURATION = oneOf('5m', '1h');
const CACHED_PARTS: readonly string[] = ['tools', 'system', 'messages'];
export const PROMPT_CACHE = rule(
  "an object with tools, system or messages, each '5m' or '1h', none longer than one before it",
  (value) =>
    isPlainObject(value) &&
    Object.entries(value).every(
      ([part, time]) =>
        CACHED_PARTS.includes(part) && (time === undefined || DURATION.accepts(time)),
    ) &&
    !/5m.*1h/.test(CACHED_PARTS.map((part) => value[part]).join()),
);

/** Rules of {@link ChatOptions}. */
export const CHAT_OPTION_RULES: Readonly<Record<keyof ChatOptions, Rule>> = {
  model: TEXT,
  temperature: numberBetween(0, Infinity),
  topP: numberBetween(0, 1),
  topK: integer(1),
  frequencyPenalty: PENALTY,
  presencePenalty: PENALTY,
  maxTokens: integer(1),
  maxCompletionTokens: integer(1),
  stopSequences: arrayOf('strings', (value) => typeof value === 'string'),
  seed: rule('an integer', Number.isInteger),
  toolChoice: rule("'auto', 'none', 'required' or { tool: name }", isToolChoice),
  parallelToolCalls: BOOLEAN,
  strictTools: BOOLEAN,
  responseFormat: rule("'text', 'json' or { schema }", isResponseFormat),
  reasoningEffort: TEXT,
  logprobs: BOOLEAN,
  topLogprobs: rule(
    'an integer from 0 to 20',
    (value) => Number.isInteger(value) && numberBetween(0, 20).accepts(value),
  ),
  user: TEXT,
  metadata: PLAIN_OBJECT,
  extraBody: PLAIN_OBJECT,
  tools: arrayOf('tools', (value) => isPlainObject((value as OfferedTool | null)?.definition)),
  providerTools: arrayOf('plain objects', isPlainObject),
  promptCache: PROMPT_CACHE,
  toolContext: PLAIN_OBJECT,
};

function arrayOf(text: string, accepts: (value: unknown) => boolean): Rule {
  return rule(`an array of ${text}`, (value) => Array.isArray(value) && value.every(accepts));
}

function isToolChoice(value: unknown): boolean {
  if (isPlainObject(value)) return TEXT.accepts(value['tool']);
  return value === 'auto' || value === 'none' || value === 'required';
}

function isResponseFormat(value: unknown): boolean {
  if (isPlainObject(value)) return isPlainObject(value['schema']);
  return value === 'text' || value === 'json';
}

/** Advice for an unknown option of a model call. */
export const TO_EXTRA_BODY = 'put fields of a provider into extraBody';

const TO_METHODS = `see the methods signal, stopWhen, conversation; ${TO_EXTRA_BODY}`;

/** @throws {@link InvalidArgumentError} if an option is unknown or its value is invalid */
export function checkChatOptions(options: ChatOptions, where: string): void {
  checkOption(where, 'options', options, PLAIN_OBJECT);
  checkOptions(where, options, CHAT_OPTION_RULES, '', TO_METHODS);
}
