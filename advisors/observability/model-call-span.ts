import type { Attributes, Context } from '@opentelemetry/api';
import type { ChatResponse, Usage } from '../../src/core/chat/chat-response.js';
import { modelCallError } from '../../src/core/chat/run-record.js';
import type { ObservedEnding, ObservedModelCall } from '../../src/core/observation/observation.js';
import type { ContentCapture } from './content-capture.js';
import { Attribute, Metric, Operation } from '../../src/core/observation/names.js';
import type { AddAttribute, PartSpan, SpanEnd } from './part-span.js';
import type { TurnTelemetry } from './turn-telemetry.js';

/** Span of a model call: `chat {model}`. */
export class ModelCallSpan implements PartSpan {
  readonly spanName: string;
  readonly isClient = true;
  private readonly chunkLabels: Attributes;
  private readonly callLabels: Attributes;
  private chunks = 0;
  /** Seconds from the start of the call to the first chunk and to the latest one. */
  private firstChunk: number | undefined;
  private latestChunk = 0;

  constructor(
    private readonly call: ObservedModelCall,
    private readonly turn: TurnTelemetry,
  ) {
    const { provider, options } = call;
    const { model } = options;
    this.spanName = model === undefined ? Operation.CHAT : `${Operation.CHAT} ${model}`;
    this.chunkLabels = turn.metrics.modelLabels(provider, model);
    this.callLabels = { ...this.chunkLabels, ...turn.metrics.serverLabels(provider) };
  }

  addStart(add: AddAttribute): void {
    const { provider, mode, iteration, options } = this.call;
    const { responseFormat } = options;
    add(Attribute.OPERATION_NAME, Operation.CHAT);
    add(Attribute.PROVIDER_NAME, provider?.name);
    add(Attribute.SERVER_ADDRESS, provider?.address);
    add(Attribute.SERVER_PORT, provider?.port);
    add(Attribute.CONVERSATION_ID, this.turn.start.conversationId);
    add(Attribute.ITERATION, iteration);
    add(Attribute.REQUEST_STREAM, mode === 'stream' || undefined);
    add(Attribute.REQUEST_MODEL, options.model);
    add(Attribute.REQUEST_TEMPERATURE, options.temperature);
    add(Attribute.REQUEST_TOP_P, options.topP);
    add(Attribute.REQUEST_TOP_K, options.topK);
    add(Attribute.REQUEST_FREQUENCY_PENALTY, options.frequencyPenalty);
    add(Attribute.REQUEST_PRESENCE_PENALTY, options.presencePenalty);
    add(Attribute.REQUEST_MAX_TOKENS, options.maxCompletionTokens ?? options.maxTokens);
    add(Attribute.REQUEST_STOP_SEQUENCES, options.stopSequences);
    add(Attribute.REQUEST_SEED, options.seed);
    add(Attribute.OUTPUT_TYPE, responseFormat && (responseFormat === 'text' ? 'text' : 'json'));
  }

  onChunk(seconds: number, context: Context): void {
    const { metrics } = this.turn;
    this.chunks++;
    if (this.firstChunk === undefined) {
      this.firstChunk = seconds;
      metrics.record(Metric.TIME_TO_FIRST_CHUNK, seconds, this.callLabels, context);
    } else {
      const gap = seconds - this.latestChunk;
      metrics.record(Metric.TIME_PER_OUTPUT_CHUNK, gap, this.chunkLabels, context);
    }
    this.latestChunk = seconds;
  }

  measure({ ending, outcome, errorLabel, duration, context }: SpanEnd): void {
    // the caller decides the duration of a cancelled call, not the model
    if (outcome === 'cancelled') return;
    const { metrics } = this.turn;
    const response = ending.type === 'response' ? ending.response : undefined;
    const labels = {
      ...this.callLabels,
      ...metrics.label(Attribute.ERROR_TYPE, errorLabel),
      ...metrics.label(Attribute.RESPONSE_MODEL, response?.model),
    };
    metrics.record(Metric.OPERATION_DURATION, duration, labels, context);
    const usage = usageOf(ending);
    if (!usage) return;
    for (const type of ['input', 'output'] as const) {
      const tokenLabels = { ...labels, [Attribute.TOKEN_TYPE]: type };
      metrics.record(Metric.TOKEN_USAGE, usage[`${type}Tokens`], tokenLabels, context);
    }
  }

  addEnd(add: AddAttribute, { ending }: SpanEnd): void {
    const { mode, prompt, options } = this.call;
    const { content } = this.turn;
    if (mode === 'stream') add(Attribute.RESPONSE_CHUNKS, this.chunks);
    add(Attribute.RESPONSE_TIME_TO_FIRST_CHUNK, this.firstChunk);
    addUsageAttributes(add, usageOf(ending));
    if (ending.type === 'response') addResponse(add, ending.response, content);
    content?.addPrompt(add, prompt);
    add(Attribute.TOOL_DEFINITIONS, content?.toolDefinitions(options.tools));
  }
}

/** Usage of an answer, or of a failed call as far as the provider reported it. */
export function usageOf(ending: ObservedEnding): Usage | undefined {
  if (ending.type === 'response') return ending.response.usage;
  return ending.type === 'error' ? modelCallError(ending.error)?.usage : undefined;
}

/** Adds the attributes of usage, for model calls and turns alike. */
export function addUsageAttributes(add: AddAttribute, usage: Usage | undefined): void {
  add(Attribute.USAGE_INPUT_TOKENS, usage?.inputTokens);
  add(Attribute.USAGE_OUTPUT_TOKENS, usage?.outputTokens);
  add(Attribute.USAGE_CACHE_CREATION_INPUT_TOKENS, usage?.cacheWriteTokens);
  add(Attribute.USAGE_CACHE_READ_INPUT_TOKENS, usage?.cachedInputTokens);
  add(Attribute.USAGE_REASONING_OUTPUT_TOKENS, usage?.reasoningTokens);
}

/** Adds the other attributes of a response, for model calls and turns alike. */
export function addResponse(
  add: AddAttribute,
  { id, model, generations }: ChatResponse,
  content: ContentCapture | undefined,
): void {
  const reasons = generations.flatMap(({ finishReason }) => finishReason || []);
  add(Attribute.RESPONSE_ID, id);
  add(Attribute.RESPONSE_MODEL, model);
  add(Attribute.RESPONSE_FINISH_REASONS, reasons.length > 0 ? reasons : undefined);
  add(Attribute.OUTPUT_MESSAGES, content?.outputMessages(generations));
}
