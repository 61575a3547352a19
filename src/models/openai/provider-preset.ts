import type { ChatOptions } from '../../core/chat/chat-options.js';
import { callsOf, type Message, type ToolCall } from '../../core/chat/message.js';
import type { MessageFold } from '../../core/chat/prompt.js';
import { sha256Hex } from '../../core/internal/text.js';
import { providerAt } from '../http/provider-names.js';
import { appendMessages } from './request.js';

/** Differences of a provider's requests from OpenAI's. */
export interface ProviderPreset {
  /** False if `stream_options` is refused; usage then comes without it. */
  readonly streamUsage: boolean;
  readonly toOptions: (options: ChatOptions) => ChatOptions;
  readonly toMessage: (message: Message) => Message;
  /** Appends messages to the JSON text of those before them. */
  readonly append: MessageFold<string>;
}

const OPENAI: ProviderPreset = {
  streamUsage: true,
  toOptions: (options) => options,
  toMessage: (message) => message,
  append: appendMessages,
};

/** https://docs.mistral.ai/api */
const MISTRAL: ProviderPreset = {
  streamUsage: false,
  toOptions: ({ seed, maxCompletionTokens, maxTokens, extraBody, ...others }) => ({
    ...others,
    maxTokens: maxCompletionTokens ?? maxTokens,
    extraBody: { ...(seed !== undefined && { random_seed: seed }), ...extraBody },
  }),
  toMessage: withMistralIds,
  append: (before, added) => appendMessages(before, added.map(withMistralIds)),
};

/** Names of the presets. */
export type PresetName = 'openai' | 'mistral';

/** The preset of a name; without one, the host's. */
export function presetOf(baseURL: string, name?: PresetName): ProviderPreset {
  const isMistral = name ? name === 'mistral' : providerAt(baseURL, '').name === 'mistral_ai';
  return isMistral ? MISTRAL : OPENAI;
}

/** Mistral refuses calls of other providers: its ids have nine letters and digits. */
function withMistralIds(message: Message): Message {
  if (message.role === 'tool') return { ...message, toolCallId: toMistralId(message.toolCallId) };
  if (message.role !== 'assistant' || callsOf(message).length === 0) return message;
  const toolCalls = callsOf(message).map<ToolCall>((call) => ({
    ...call,
    id: toMistralId(call.id),
  }));
  return { ...message, toolCalls };
}

function toMistralId(id: string): string {
  return /^[a-zA-Z0-9]{9}$/.test(id) ? id : sha256Hex(id || 'call').slice(0, 9);
}

/** Option for structured output; alike for the models of this folder. */
export interface StructuredOutputOption {
  /**
   * Sends the schema of `entity(schema)` with the request, strict (`native`), or describes it in the
   * prompt (`text`). A schema that strict mode cannot express is described too.
   * @default 'native', but 'text' for servers known to ignore or reject it (Anthropic, DeepSeek)
   */
  readonly structuredOutput?: 'native' | 'text' | undefined;
}

/** Providers whose compatible servers do not take a schema of the answer. */
const TEXT_ONLY: ReadonlySet<string> = new Set(['anthropic', 'deepseek']);

/** True if the server at an address takes a schema of the answer. */
export function takesSchema(
  baseURL: string,
  { structuredOutput: chosen }: StructuredOutputOption,
): boolean {
  if (chosen !== undefined) return chosen === 'native';
  return !TEXT_ONLY.has(providerAt(baseURL, 'openai').name);
}
