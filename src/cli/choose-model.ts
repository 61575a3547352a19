import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { InvalidArgumentError } from '../core/errors/argument-errors.js';
import type { ChatModel } from '../index.js';
import type { AiSdkLanguageModel } from '../models/ai-sdk/index.js';
import type { Terminal } from './terminal.js';
import { UsageError } from './usage-error.js';

/** A model of the command line, and how it is named there. */
export interface ChosenModel {
  readonly model: ChatModel;
  /** Such as `openai:gpt-5-mini`, or `offline`. */
  readonly name: string;
  readonly isOffline: boolean;
}

/** Key and address of a provider, each if it is set. */
type Connection = { readonly apiKey?: string; readonly baseURL?: string };

/** A provider that this package has a wire for. */
export interface Provider {
  /** Variables of the key, of which one is set. */
  readonly keys: readonly string[];
  /** False if it answers without a key, as a server of one's own does. */
  readonly needsKey: boolean;
  /** Variable of the address. */
  readonly address?: string;
  /** Model if none is named. */
  readonly model?: string;
  readonly create: (options: { readonly model: string } & Connection) => Promise<ChatModel>;
}

const OPENAI = {
  keys: ['OPENAI_API_KEY'],
  needsKey: true,
  address: 'OPENAI_BASE_URL',
  model: 'gpt-5-mini',
} as const;

/** Providers by name; those with a key are tried in this order. */
export const PROVIDERS: Readonly<Record<string, Provider>> = {
  openai: {
    ...OPENAI,
    create: async (options) =>
      new (await import('../models/openai/index.js')).OpenAIChatModel(options),
  },
  'openai-responses': {
    ...OPENAI,
    create: async (options) =>
      new (await import('../models/openai/index.js')).OpenAIResponsesModel(options),
  },
  anthropic: {
    keys: ['ANTHROPIC_API_KEY'],
    needsKey: true,
    address: 'ANTHROPIC_BASE_URL',
    model: 'claude-sonnet-4-5',
    create: async (options) =>
      new (await import('../models/anthropic/index.js')).AnthropicChatModel(options),
  },
  google: {
    keys: ['GOOGLE_API_KEY', 'GEMINI_API_KEY'],
    needsKey: true,
    address: 'GOOGLE_GEMINI_BASE_URL',
    model: 'gemini-2.5-flash',
    create: async (options) =>
      new (await import('../models/google/index.js')).GoogleChatModel(options),
  },
  cohere: {
    keys: ['COHERE_API_KEY', 'CO_API_KEY'],
    needsKey: true,
    model: 'command-a-03-2025',
    create: async (options) =>
      new (await import('../models/cohere/index.js')).CohereChatModel(options),
  },
  ollama: {
    keys: ['OLLAMA_API_KEY'],
    needsKey: false,
    create: async (options) =>
      new (await import('../models/ollama/index.js')).OllamaChatModel(options),
  },
};

/**
 * The model of `--model provider:name`: a provider of this package, or of the AI SDK as far as its package is installed
 * in the user's project. Without a key it is the offline model, and a note names the variable. Without `--model` it is
 * a model of the first provider with a key.
 * @throws {@link UsageError} for a name that is none, {@link InvalidArgumentError} for a provider that is not installed
 */
export async function chooseModel(
  wanted: string | undefined,
  terminal: Terminal,
): Promise<ChosenModel> {
  if (wanted === 'offline') return offline();
  if (wanted === undefined) return await firstWithKey(terminal);
  const at = wanted.indexOf(':');
  const provider = at < 0 ? wanted : wanted.slice(0, at);
  const known = Object.hasOwn(PROVIDERS, provider) ? PROVIDERS[provider] : undefined;
  const model = (at < 0 ? '' : wanted.slice(at + 1)) || known?.model;
  if (model === undefined || provider === '')
    throw new UsageError(`--model is written as provider:model, such as openai:gpt-5-mini`);
  const name = `${provider}:${model}`;
  if (!known) return { model: await ofAiSdk(provider, model, terminal), name, isOffline: false };
  if (isMissing(known, terminal)) {
    terminal.note(
      `${known.keys.join(' or ')} is not set: the offline model answers in place of ${name}.`,
    );
    return await offline();
  }
  return { model: await create(known, model, terminal), name, isOffline: false };
}

async function firstWithKey(terminal: Terminal): Promise<ChosenModel> {
  const found = Object.entries(PROVIDERS).find(
    ([, provider]) => provider.needsKey && !isMissing(provider, terminal),
  );
  const [name, provider] = found ?? [];
  if (provider?.model !== undefined)
    return {
      model: await create(provider, provider.model, terminal),
      name: `${name}:${provider.model}`,
      isOffline: false,
    };
  terminal.note(
    'No key of a provider is set (OPENAI_API_KEY, ANTHROPIC_API_KEY, …): the offline model answers. It calls tools and repeats their results.',
  );
  return await offline();
}

const isMissing = ({ keys, needsKey }: Provider, { env }: Terminal): boolean =>
  needsKey && !keys.some((key) => env[key]);

async function offline(): Promise<ChosenModel> {
  const { OfflineChatModel } = await import('../testing/index.js');
  return { model: new OfflineChatModel(), name: 'offline', isOffline: true };
}

function create(provider: Provider, model: string, { env }: Terminal): Promise<ChatModel> {
  const apiKey = provider.keys.map((key) => env[key]).find(Boolean);
  const baseURL = env[provider.address ?? ''];
  return provider.create({ model, ...(apiKey && { apiKey }), ...(baseURL && { baseURL }) });
}

/** A model of a provider of the AI SDK: `mistral` of `@ai-sdk/mistral`, or the package by its whole name. */
async function ofAiSdk(provider: string, model: string, terminal: Terminal): Promise<ChatModel> {
  const name = provider.includes('/') ? provider : `@ai-sdk/${provider}`;
  const exports = await importFrom(name, provider, terminal);
  const create = providerOf(exports, provider);
  if (!create) throw new InvalidArgumentError(`${name} exports no provider that is ready to use`);
  const { AiSdkChatModel } = await import('../models/ai-sdk/index.js');
  return new AiSdkChatModel({ model: create(model) });
}

async function importFrom(
  name: string,
  provider: string,
  { cwd }: Terminal,
): Promise<Readonly<Record<string, unknown>>> {
  const require = createRequire(join(cwd, 'package.json'));
  let path: string;
  try {
    path = require.resolve(name);
  } catch (cause) {
    const known = [...Object.keys(PROVIDERS), 'offline'].join(', ');
    throw new InvalidArgumentError(
      `${provider} is none of ${known}, and its package of the AI SDK is not installed: npm install ${name}`,
      { cause },
    );
  }
  return (await import(pathToFileURL(path).href)) as Readonly<Record<string, unknown>>;
}

type CreateModel = (model: string) => AiSdkLanguageModel;

/** The provider that a package exports under its own name, else its first one. */
function providerOf(
  exports: Readonly<Record<string, unknown>>,
  provider: string,
): CreateModel | undefined {
  const own = provider.replaceAll(/[^a-z\d]/gi, '').toLowerCase();
  const found = Object.entries(exports).filter(
    ([, value]) => typeof value === 'function' && 'languageModel' in value,
  );
  const named = found.find(([name]) => own.endsWith(name.toLowerCase())) ?? found[0];
  return named?.[1] as CreateModel | undefined;
}
