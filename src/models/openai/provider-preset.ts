import type { ChatOptions } from '../../chat/chat-options.js';
import type { Message, ToolCall } from '../../chat/message.js';
import type { MessageFold } from '../../chat/prompt.js';
import { sha256Hex } from '../../internal/text.js';
import { providerAt } from '../http/provider-names.js';
import { appendMessages } from './request.js';

/** Requests of a provider that differ from those of OpenAI. */
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

/** The preset of a name; without one, that of the host. */
export function presetOf(baseURL: string, name?: PresetName): ProviderPreset {
  const isMistral = name ? name === 'mistral' : providerAt(baseURL, '').name === 'mistral_ai';
  return isMistral ? MISTRAL : OPENAI;
}

/** Mistral refuses calls of other providers: its ids have nine letters and digits. */
function withMistralIds(message: Message): Message {
  if (message.role === 'tool') return { ...message, toolCallId: toMistralId(message.toolCallId) };
  if (message.role !== 'assistant' || message.toolCalls.length === 0) return message;
  const toolCalls = message.toolCalls.map<ToolCall>((call) => ({
    ...call,
    id: toMistralId(call.id),
  }));
  return { ...message, toolCalls };
}

function toMistralId(id: string): string {
  return /^[a-zA-Z0-9]{9}$/.test(id) ? id : sha256Hex(id || 'call').slice(0, 9);
}
