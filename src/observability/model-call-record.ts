import type { Attributes } from '@opentelemetry/api';
import type { ChatOptions } from '../chat/chat-options.js';
import type { ChatResponse } from '../chat/chat-response.js';
import type { ObservedEnding, ObservedEvent, ObservedModelCall } from '../chat/observation.js';
import type { Usage } from '../chat/usage.js';
import type { ContentCapture } from './content-capture.js';
import { errorLabel } from './error-type.js';
import type { Metrics } from './metrics.js';
import { Attribute, Operation } from './names.js';
import type { SpanEnd, SpanRecord } from './span-record.js';

/** A model call: `chat {model}`. */
export class ModelCallRecord implements SpanRecord {
  readonly spanName: string;
  readonly isClient = true;
  private readonly labels: Attributes;
  private chunks = 0;
  /** Seconds from the beginning to the first chunk, and to the last so far. */
  private firstChunk: number | undefined;
  private lastChunk = 0;

  constructor(
    private readonly call: ObservedModelCall,
    private readonly metrics: Metrics,
    private readonly capture: ContentCapture | undefined,
    private readonly conversationId: string | undefined,
  ) {
    const { model } = call.options;
    this.spanName = model === undefined ? Operation.CHAT : `${Operation.CHAT} ${model}`;
    this.labels = metrics.modelLabels(call.provider, model);
  }

  attributes(): Attributes {
    const { provider, mode, iteration, options } = this.call;
    return {
      [Attribute.OPERATION_NAME]: Operation.CHAT,
      [Attribute.PROVIDER_NAME]: provider?.name,
      [Attribute.SERVER_ADDRESS]: provider?.address,
      [Attribute.SERVER_PORT]: provider?.port,
      [Attribute.CONVERSATION_ID]: this.conversationId,
      [Attribute.ITERATION]: iteration,
      [Attribute.REQUEST_STREAM]: mode === 'stream' ? true : undefined,
      ...samplingOptions(options),
    };
  }

  note({ type }: ObservedEvent, seconds: number): void {
    if (type !== 'chunk') return;
    this.chunks++;
    if (this.firstChunk === undefined) this.metrics.firstChunkAfter((this.firstChunk = seconds), this.labels);
    else this.metrics.nextChunkAfter(seconds - this.lastChunk, this.labels);
    this.lastChunk = seconds;
  }

  measure(ending: ObservedEnding, { outcome, error, duration }: SpanEnd): void {
    // who cancels has not waited for the answer, so its time says nothing about the model
    if (outcome === 'cancelled') return;
    const response = ending.type === 'response' ? ending.response : undefined;
    const measures = { labels: this.labels, duration, usage: response?.usage };
    this.metrics.modelCall(measures, response?.model, outcome === 'error' ? errorLabel(error) : undefined);
  }

  endAttributes(ending: ObservedEnding): Attributes {
    const response = ending.type === 'response' ? ending.response : undefined;
    return {
      ...(this.call.mode === 'stream' && {
        [Attribute.RESPONSE_CHUNKS]: this.chunks,
        [Attribute.RESPONSE_TIME_TO_FIRST_CHUNK]: this.firstChunk,
      }),
      ...(response && responseAttributes(response)),
      ...(response && this.capture && { [Attribute.OUTPUT_MESSAGES]: this.capture.answers(response.generations) }),
    };
  }

  content(): Attributes {
    const content = this.capture;
    if (!content) return {};
    const { prompt } = this.call;
    const tools = this.call.options.tools ?? [];
    return {
      [Attribute.SYSTEM_INSTRUCTIONS]: content.instructions(prompt),
      [Attribute.INPUT_MESSAGES]: content.messages(prompt),
      [Attribute.TOOL_DEFINITIONS]: tools.length > 0 ? content.definitions(tools.map(({ definition }) => definition)) : undefined,
    };
  }
}

/** What is said of an answer, of a model call and of a turn alike. */
export function responseAttributes({ id, model, generations, usage }: ChatResponse): Attributes {
  const reasons = generations.flatMap(({ finishReason }) => finishReason ?? []);
  return {
    [Attribute.RESPONSE_ID]: id,
    [Attribute.RESPONSE_MODEL]: model,
    [Attribute.RESPONSE_FINISH_REASONS]: reasons.length > 0 ? reasons : undefined,
    ...usageAttributes(usage),
  };
}

function usageAttributes(usage: Usage | undefined): Attributes {
  return {
    [Attribute.USAGE_INPUT_TOKENS]: usage?.inputTokens,
    [Attribute.USAGE_OUTPUT_TOKENS]: usage?.outputTokens,
    [Attribute.USAGE_CACHE_READ_INPUT_TOKENS]: usage?.cachedInputTokens,
    [Attribute.USAGE_REASONING_OUTPUT_TOKENS]: usage?.reasoningTokens,
  };
}

function samplingOptions(options: ChatOptions): Attributes {
  return {
    [Attribute.REQUEST_MODEL]: options.model,
    [Attribute.REQUEST_TEMPERATURE]: options.temperature,
    [Attribute.REQUEST_TOP_P]: options.topP,
    [Attribute.REQUEST_TOP_K]: options.topK,
    [Attribute.REQUEST_FREQUENCY_PENALTY]: options.frequencyPenalty,
    [Attribute.REQUEST_PRESENCE_PENALTY]: options.presencePenalty,
    [Attribute.REQUEST_MAX_TOKENS]: options.maxCompletionTokens ?? options.maxTokens,
    [Attribute.REQUEST_STOP_SEQUENCES]: options.stopSequences && [...options.stopSequences],
    [Attribute.REQUEST_SEED]: options.seed,
    [Attribute.OUTPUT_TYPE]: options.responseFormat === undefined ? undefined : options.responseFormat === 'text' ? 'text' : 'json',
  };
}
