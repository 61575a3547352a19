import type { ChatClientRequest } from '../../src/core/advisor/chat-client-request.js';
import type { ChatOptions } from '../../src/core/chat/chat-options.js';
import { encodeMessage } from '../../src/core/chat/message-codec.js';
import type { Message } from '../../src/core/chat/message.js';
import { OUTPUT_FORMAT } from '../../src/core/chat/output-format.js';
import type { OfferedTool } from '../../src/core/chat/tool-definition.js';
import { hasCode } from '../../src/core/errors/advisor-chain-error.js';
import { jsonData } from '../../src/core/internal/json-data.js';
import { canonicalJson, parseJson } from '../../src/core/internal/json.js';
import { memoize } from '../../src/core/internal/memoize.js';
import { sha256Hex } from '../../src/core/internal/text.js';
import { toolFingerprint } from '../../src/core/tool/pin-tools.js';
import type { Tool } from '../../src/core/tool/tool.js';

/** Parts of a key that are not in the request itself. */
export interface KeySettings {
  readonly scope: string;
  /** True if the tool context is part of the key. */
  readonly withToolContext: boolean;
}

/**
 * The hash of all that an answer depends on: scope, model, options, messages, tools, output format.
 * @returns undefined if a part is not JSON data
 */
export function cacheKey(
  request: ChatClientRequest,
  settings: KeySettings,
  messages: readonly Message[] = request.prompt.messages,
): string | undefined {
  const { model, tools, unlocked, prompt, toolContext } = request;
  const { schema, text, mode } = request.context.get(OUTPUT_FORMAT) ?? {};
  const parts = jsonData({
    scope: settings.scope,
    provider: model?.provider,
    options: answerOptions(prompt.options),
    format: { schema, text, mode },
    toolContext: settings.withToolContext ? toolContext : undefined,
  });
  const messageHashes = messages.map(hashOfMessage);
  if (parts === undefined || messageHashes.includes(undefined)) return undefined;
  const offered = [...(prompt.options.tools ?? []), ...tools].map(hashOfTool);
  return sha256Hex(JSON.stringify([canonicalJson(parts), offered, unlocked, messageHashes]));
}

/** The options on which an answer depends; the tools are hashed, once each. */
function answerOptions({
  tools: _tools,
  toolContext: _context,
  promptCache: _marks,
  user: _user,
  metadata: _labels,
  ...options
}: ChatOptions): ChatOptions {
  return options;
}

/** With its metadata: reasoning and signatures of a model are there. */
const hashOfMessage = memoize((message: Message): string | undefined => {
  try {
    return sha256Hex(canonicalJson(parseJson(encodeMessage(message)) ?? null));
  } catch (error) {
    if (hasCode(error, 'invalid_argument')) return undefined;
    throw error;
  }
});

const hashOfTool = memoize((tool: OfferedTool & Partial<Tool>): readonly unknown[] => {
  const { deferred = false, returnDirect = false } = tool.metadata ?? {};
  return [toolFingerprint(tool), tool.definition.strict ?? null, deferred, returnDirect];
});
