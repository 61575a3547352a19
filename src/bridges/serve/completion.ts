import type { ChatClientResponse } from '../../core/advisor/chat-client-response.js';
import { isCutOff, type ChatResponse, type Usage } from '../../core/chat/chat-response.js';
import type { ChatEvent, ResponseEvent } from '../../core/chat/chat-event.js';
import type { ToolCall } from '../../core/chat/message.js';
import { TextEncoderOfEvents } from '../http/formats.js';
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
  private readonly texts = new TextEncoderOfEvents();
  /** The same begin of all chunks: it has most of their bytes. */
  private readonly begin: string;
  private hasBegun = false;
  private hasReasoning = false;
  /** True if reasoning of the current attempt of an iteration was written. */
  private isReasoning = false;

  constructor(
    { id, created, model }: AnswerHead,
    private readonly includeUsage: boolean,
  ) {
    const head = JSON.stringify({ id, object: 'chat.completion.chunk', created, model });
    this.begin = `data: ${head.slice(0, -1)},"choices":[`;
  }

  /** @throws TurnPausedError at the end of a turn that waits for people */
  encode(event: ChatEvent): string {
    const content = this.texts.encode(event);
    const text = content === '' ? '' : this.delta({ content });
    switch (event.type) {
      case 'iteration-start':
      case 'retract':
        this.isReasoning = false;
        return text;
      case 'reasoning-delta':
        return this.reasoning(event.text);
      case 'response':
        return text + this.finish(event);
      default:
        return text;
    }
  }

  fail(error: object): string {
    return frame({ error });
  }

  end(): string {
    return 'data: [DONE]\n\n';
  }

  private reasoning(text: string): string {
    if (text === '') return '';
    const separator = this.hasReasoning && !this.isReasoning ? '\n\n' : '';
    this.hasReasoning = this.isReasoning = true;
    return this.delta({ reasoning_content: separator + text });
  }

  /** Calls are whole: the protocol cannot take back those that a retry voids. */
  private finish({ response, run }: ResponseEvent): string {
    const { reasoning = '', refusal } = response.message;
    const calls = openCalls(response);
    const usage = run?.usage ?? response.usage;
    return (
      (this.isReasoning ? '' : this.reasoning(reasoning)) +
      (refusal === undefined ? '' : this.delta({ refusal })) +
      calls
        .map((call, index) => this.delta({ tool_calls: [{ index, ...toCall(call) }] }))
        .join('') +
      this.delta({}, finishReason(response, calls)) +
      (this.includeUsage ? this.chunk('', toUsage(usage)) : '')
    );
  }

  private delta(fields: object, finish_reason: string | null = null): string {
    const delta = this.hasBegun ? fields : { role: 'assistant', content: '', ...fields };
    this.hasBegun = true;
    const reason = JSON.stringify(finish_reason);
    return this.chunk(
      `{"index":0,"delta":${JSON.stringify(delta)},"logprobs":null,"finish_reason":${reason}}`,
    );
  }

  /** @param choice its JSON; empty for none */
  private chunk(choice: string, usage: object | null = null): string {
    const end = this.includeUsage ? `],"usage":${JSON.stringify(usage)}}` : ']}';
    return `${this.begin}${choice}${end}\n\n`;
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
