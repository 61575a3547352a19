import type { ResponseEvent } from '../../core/chat/chat-event.js';
import type { ChatResponse } from '../../core/chat/chat-response.js';
import type { UIFinishReason, UIMessageChunk, UIMessageMetadata } from './ui-message-chunk.js';

const REASONS: Readonly<Record<string, UIFinishReason>> = {
  stop: 'stop',
  end_turn: 'stop',
  length: 'length',
  max_tokens: 'length',
  content_filter: 'content-filter',
  tool_calls: 'tool-calls',
  tool_use: 'tool-calls',
  paused: 'tool-calls',
};

/**
 * The last chunk of a run.
 * @param seal the seal of the turn, if the page keeps the history
 */
export function finishChunk(
  { response, run }: ResponseEvent,
  seal: string | undefined,
): UIMessageChunk {
  return {
    type: 'finish',
    finishReason: finishReasonOf(response),
    messageMetadata: { ...metadataOf(response, run?.cost), ...(seal !== undefined && { seal }) },
  };
}

function finishReasonOf({ finishReason }: ChatResponse): UIFinishReason {
  return REASONS[finishReason?.toLowerCase() ?? 'stop'] ?? 'other';
}

function metadataOf(
  { model, usage, paused }: ChatResponse,
  cost: number | undefined,
): UIMessageMetadata {
  const counts = usage && {
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
    totalTokens: usage.totalTokens,
  };
  return {
    ...(model !== undefined && { model }),
    ...(counts && { usage: counts }),
    ...(cost !== undefined && { cost }),
    ...(paused?.id !== undefined && { pausedTurn: paused.id }),
  };
}
