import type { ChatClientRequest } from '../../src/core/advisor/chat-client-request.js';
import type { ChatClientResponse } from '../../src/core/advisor/chat-client-response.js';
import { AnsweredRequest, sentRequest } from '../../src/core/advisor/run-tools.js';
import { isWhole } from '../../src/core/chat/chat-response.js';
import { OUTPUT_FORMAT } from '../../src/core/chat/output-format.js';
import { hasCode } from '../../src/core/errors/advisor-chain-error.js';
import type { ToolMetadata } from '../../src/core/tool/tool.js';
import type {
  ResponseCacheAdvisorOptions,
  ResponseCacheRefusal,
} from './response-cache-options.js';

/** The reason not to keep the answer of a turn; undefined if another turn may get it. */
export async function refusalOfAnswer(
  request: ChatClientRequest,
  response: ChatClientResponse,
  toolCalls: ResponseCacheAdvisorOptions['toolCalls'],
): Promise<ResponseCacheRefusal | undefined> {
  if (!isComplete(response)) return 'incomplete';
  if (!hasAllowedCalls(request, toolCalls)) return 'tool-calls';
  const { added } = sentRequest(request, response.context);
  if (added.some((message) => !request.added.includes(message))) return 'steered';
  return (await hasFormat(request, response)) ? undefined : 'format';
}

function isComplete(response: ChatClientResponse): boolean {
  const { result, message, metadata } = response.chatResponse;
  return (
    result !== undefined &&
    isWhole(result) &&
    !response.hasToolCalls() &&
    message.refusal === undefined &&
    metadata?.['limit'] === undefined &&
    (response.text ?? '').trim() !== ''
  );
}

/** True if all calls of the run, also of an attempt that was given up, were allowed, and succeeded. */
function hasAllowedCalls(
  { run, tools }: ChatClientRequest,
  allowed: ResponseCacheAdvisorOptions['toolCalls'],
): boolean {
  if (run.toolCalls.length === 0) return true;
  if (allowed !== 'read') return false;
  const known = AnsweredRequest.of(run)?.request.tools ?? tools;
  return run.toolCalls.every(({ toolName, result }) => {
    const tool = known.find(({ definition }) => definition.name === toolName);
    return tool !== undefined && isRepeatable(tool.metadata) && result?.isError !== true;
  });
}

/** An untrusted result could put words into the answers of others. */
function isRepeatable({ effect, cacheable, polls, untrusted }: ToolMetadata): boolean {
  return effect === 'read' && cacheable !== false && polls !== true && untrusted !== true;
}

async function hasFormat(
  { context }: ChatClientRequest,
  response: ChatClientResponse,
): Promise<boolean> {
  try {
    await context.get(OUTPUT_FORMAT)?.parse?.(response);
    return true;
  } catch (error) {
    if (hasCode(error, 'structured_output')) return false;
    throw error;
  }
}
