import type { ChatClientResponse } from '../../core/advisor/chat-client-response.js';
import { isCutOff, type ChatResponse, type Usage } from '../../core/chat/chat-response.js';
import type { ChatEvent } from '../../core/chat/chat-event.js';
import type { ToolCall } from '../../core/chat/message.js';
import type { StreamEncoder, StreamFormat } from '../http/index.js';
import { openCalls } from './caller-tools.js';

/** Fields that all parts of one answer have. */
export interface AnswerHead {
  readonly id: string;
  /** Seconds since 1970. */
  readonly created: number;
  /** The name by which the caller knows the client. */
  readonly model: string;
}

/** The body of an answer. */
export function toCompletion(
  { id, created, model }: AnswerHead,
  { chatResponse, run }: ChatClientResponse,
): object {
  const { text, message } = chatResponse;
  const calls = openCalls(chatResponse);
  const { reasoning, refusal = null } = message;
  const answer = {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    refusal,
    ...(reasoning !== undefined && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls.map(toCall) }),
  };
  const finish_reason = finishReason(chatResponse, calls);
  const usage = toUsage(run?.usage ?? chatResponse.usage);
  return {
    id,
    object: 'chat.completion',
    created,
    model,
    choices: [{ index: 0, message: answer, logprobs: null, finish_reason }],
    ...(usage && { usage }),
  };
}

/** The format of a streamed answer. */
export function chunkFormat(head: AnswerHead, includeUsage: boolean): StreamFormat {
  return {
    contentType: 'text/event-stream; charset=utf-8',
    encoder: () => new ChunkEncoder(head, includeUsage),
  };
}

class ChunkEncoder implements StreamEncoder {
  readonly heartbeat = ': \n\n';
  private hasBegun = false;

  constructor(
    private readonly head: AnswerHead,
    private readonly includeUsage: boolean,
  ) {}

  encode(event: ChatEvent): string {
    if (event.type === 'text-delta') return this.delta({ content: event.text });
    if (event.type !== 'response') return '';
    const { response, run } = event;
    const { reasoning, refusal } = response.message;
    const calls = openCalls(response);
    const usage = run?.usage ?? response.usage;
    return (
      (reasoning === undefined ? '' : this.delta({ reasoning_content: reasoning })) +
      (refusal === undefined ? '' : this.delta({ refusal })) +
      calls
        .map((call, index) => this.delta({ tool_calls: [{ index, ...toCall(call) }] }))
        .join('') +
      this.delta({}, finishReason(response, calls)) +
      (this.includeUsage ? this.chunk([], toUsage(usage) ?? null) : '')
    );
  }

  fail(error: object): string {
    return frame({ error });
  }

  end(): string {
    return 'data: [DONE]\n\n';
  }

  private delta(fields: object, finish_reason: string | null = null): string {
    const delta = this.hasBegun ? fields : { role: 'assistant', content: '', ...fields };
    this.hasBegun = true;
    return this.chunk([{ index: 0, delta, logprobs: null, finish_reason }], null);
  }

  private chunk(choices: readonly object[], usage: object | null): string {
    const { id, created, model } = this.head;
    const fields = { id, object: 'chat.completion.chunk', created, model, choices };
    return frame(this.includeUsage ? { ...fields, usage } : fields);
  }
}

function frame(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

function toCall({ id, name, arguments: json }: ToolCall): object {
  return { id, type: 'function', function: { name, arguments: json } };
}

function finishReason({ result }: ChatResponse, calls: readonly ToolCall[]): string {
  if (calls.length > 0) return 'tool_calls';
  if (!result) return 'stop';
  if (isCutOff(result)) return 'length';
  return /content.?filter|safety/i.test(result.finishReason ?? '') ? 'content_filter' : 'stop';
}

function toUsage(usage: Usage | undefined): object | undefined {
  if (!usage) return undefined;
  const { cachedInputTokens: cached_tokens, reasoningTokens: reasoning_tokens } = usage;
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.totalTokens,
    ...(cached_tokens !== undefined && { prompt_tokens_details: { cached_tokens } }),
    ...(reasoning_tokens !== undefined && { completion_tokens_details: { reasoning_tokens } }),
  };
}
