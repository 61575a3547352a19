import { InvalidArgumentError } from '../errors.js';
import { describe } from './message.js';
import type { JsonSchema, OfferedTool } from './tool-definition.js';

/** How a model is to answer. Everything is optional: what is absent is decided by the layer below (client, model, provider). */
export interface ChatOptions {
  /** Name of the model. */
  readonly model?: string | undefined;
  /** Sampling temperature, 0 or more. */
  readonly temperature?: number | undefined;
  /** Nucleus sampling, 0 to 1. */
  readonly topP?: number | undefined;
  /** Candidates to sample from, a positive integer; few providers have it. */
  readonly topK?: number | undefined;
  /** -2 to 2. */
  readonly frequencyPenalty?: number | undefined;
  /** -2 to 2. */
  readonly presencePenalty?: number | undefined;
  /** Most tokens of the answer; ignored where `maxCompletionTokens` is set. */
  readonly maxTokens?: number | undefined;
  /** Most tokens of the answer, reasoning included. */
  readonly maxCompletionTokens?: number | undefined;
  /** Texts at which the model stops. Layers add to them. */
  readonly stopSequences?: readonly string[] | undefined;
  /** Asks for a repeatable answer. */
  readonly seed?: number | undefined;
  /** Which tools the model may or must call. A forced choice holds for the first iteration of a turn, then it is `auto`. */
  readonly toolChoice?: ToolChoice | undefined;
  /** Whether the model may call several tools at once. */
  readonly parallelToolCalls?: boolean | undefined;
  /** Whether providers are asked to enforce tool schemas. */
  readonly strictTools?: boolean | undefined;
  /** The form of the answer. */
  readonly responseFormat?: ResponseFormat | undefined;
  /** How much a reasoning model thinks, such as `low`, `medium` or `high`. */
  readonly reasoningEffort?: string | undefined;
  /** Whether to report the probabilities of the tokens. */
  readonly logprobs?: boolean | undefined;
  /** Alternatives to report for each token, 0 to 20; needs `logprobs`. */
  readonly topLogprobs?: number | undefined;
  /** Who asks, for the provider's abuse detection. */
  readonly user?: string | undefined;
  /** Labels that the provider stores with the request. Layers add to them. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** Fields for the request body that have no option here; they win over all options. Layers add to them. */
  readonly extraBody?: Readonly<Record<string, unknown>> | undefined;
  /** Tools to offer. Layers add to them. */
  readonly tools?: readonly OfferedTool[] | undefined;
  /** Tools that the provider runs itself, as its API wants them (a web search, a tool search); sent behind the others. Layers add to them. */
  readonly providerTools?: readonly Readonly<Record<string, unknown>>[] | undefined;
  /** Values for tools that are never sent to the model. Layers add to them. */
  readonly toolContext?: ToolContextValues | undefined;
}

/** Values for tools, by name. */
export type ToolContextValues = Readonly<Record<string, unknown>>;

/** `required`: at least one call; `{ tool }`: a call of this tool. */
export type ToolChoice = 'auto' | 'none' | 'required' | { readonly tool: string };

/** `json`: a JSON object of any kind; with a schema: JSON that fits it, if the provider can enforce that. */
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

/** Options of two layers as one: a value of `over` wins, an absent one does not; lists and maps are joined. */
export function mergeOptions(base: ChatOptions, over: ChatOptions | undefined): ChatOptions {
  if (!over || over === base) return base;
  const merged: Record<string, unknown> = { ...base };
  for (const [name, value] of Object.entries(over)) if (value !== undefined && name !== '__proto__') merged[name] = value;
  // two names of one limit: the upper layer's counts, whichever name it uses
  if (over.maxTokens !== undefined && over.maxCompletionTokens === undefined) delete merged['maxCompletionTokens'];
  if (over.maxCompletionTokens !== undefined && over.maxTokens === undefined) delete merged['maxTokens'];
  if (base.stopSequences && over.stopSequences) merged['stopSequences'] = [...new Set([...base.stopSequences, ...over.stopSequences])];
  if (base.tools && over.tools) merged['tools'] = [...base.tools, ...over.tools];
  if (base.providerTools && over.providerTools) merged['providerTools'] = [...base.providerTools, ...over.providerTools];
  if (base.metadata && over.metadata) merged['metadata'] = { ...base.metadata, ...over.metadata };
  if (base.extraBody && over.extraBody) merged['extraBody'] = { ...base.extraBody, ...over.extraBody };
  if (base.toolContext && over.toolContext) merged['toolContext'] = { ...base.toolContext, ...over.toolContext };
  return merged;
}

type Rule = readonly [rule: string, holds: (value: unknown) => boolean];

const isNumber =
  (min: number, max = Infinity) =>
  (value: unknown): boolean =>
    typeof value === 'number' && value >= min && value <= max;
const isInteger =
  (min: number, max = Infinity) =>
  (value: unknown): boolean =>
    Number.isInteger(value) && isNumber(min, max)(value);
const isPlain = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);
const TEXT: Rule = ['a non-blank string', (value) => typeof value === 'string' && value.trim() !== ''];
const FLAG: Rule = ['true or false', (value) => typeof value === 'boolean'];
const COUNT: Rule = ['a positive integer', isInteger(1)];
const PENALTY: Rule = ['a number from -2 to 2', isNumber(-2, 2)];
const MAP: Rule = ['a plain object', isPlain];

const RULES: Readonly<Record<keyof ChatOptions, Rule>> = {
  model: TEXT,
  temperature: ['a number of 0 or more', isNumber(0)],
  topP: ['a number from 0 to 1', isNumber(0, 1)],
  topK: COUNT,
  frequencyPenalty: PENALTY,
  presencePenalty: PENALTY,
  maxTokens: COUNT,
  maxCompletionTokens: COUNT,
  stopSequences: ['an array of strings', (value) => Array.isArray(value) && value.every((text) => typeof text === 'string')],
  seed: ['an integer', Number.isInteger],
  toolChoice: ["'auto', 'none', 'required' or { tool: name }", isToolChoice],
  parallelToolCalls: FLAG,
  strictTools: FLAG,
  responseFormat: [
    "'text', 'json' or { schema }",
    (value) => value === 'text' || value === 'json' || (isPlain(value) && isPlain((value as { schema?: unknown }).schema)),
  ],
  reasoningEffort: TEXT,
  logprobs: FLAG,
  topLogprobs: ['an integer from 0 to 20', isInteger(0, 20)],
  user: TEXT,
  metadata: MAP,
  extraBody: MAP,
  tools: [
    'an array of tools',
    (value) => Array.isArray(value) && value.every((tool: OfferedTool | undefined) => isPlain(tool?.definition)),
  ],
  providerTools: ['an array of plain objects', (value) => Array.isArray(value) && value.every(isPlain)],
  toolContext: MAP,
};

function isToolChoice(value: unknown): boolean {
  return value === 'auto' || value === 'none' || value === 'required' || (isPlain(value) && TEXT[1]((value as { tool?: unknown }).tool));
}

/** @throws {@link InvalidArgumentError} if an option is unknown or its value is out of range */
export function checkOptions(options: ChatOptions, where: string): void {
  if (!isPlain(options)) throw new InvalidArgumentError(`${where}: options are a plain object, not ${describe(options)}`);
  for (const [name, value] of Object.entries(options)) {
    const rule = Object.hasOwn(RULES, name) ? RULES[name as keyof ChatOptions] : undefined;
    if (!rule) throw new InvalidArgumentError(`${where}: unknown option "${name}"; put fields of a provider into extraBody`);
    if (value !== undefined && !rule[1](value))
      throw new InvalidArgumentError(`${where}: ${name} must be ${rule[0]}, not ${describe(value)}`);
  }
}
