import type { Attributes, Context } from '@opentelemetry/api';
import type { ChatResponse } from '../chat/chat-response.js';
import type { ObservedEvent, ObservedModelCall } from '../observation/observation.js';
import type { AttributeSet } from './attributes.js';
import type { ContentCapture } from './content-capture.js';
import { errorLabel } from './error-type.js';
import type { Metrics } from './metrics.js';
import { Attribute, Metric, Operation } from './names.js';
import type { PartSpan, SpanEnd } from './part-span.js';

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
    private readonly metrics: Metrics,
    private readonly capture: ContentCapture | undefined,
    private readonly conversationId: string | undefined,
  ) {
    const { model } = call.options;
    this.spanName = model === undefined ? Operation.CHAT : `${Operation.CHAT} ${model}`;
    this.chunkLabels = metrics.modelLabels(call.provider, model);
    this.callLabels = { ...this.chunkLabels, ...metrics.serverLabels(call.provider) };
  }

  addStart(to: AttributeSet): void {
    const { provider, mode, iteration, options } = this.call;
    const { responseFormat, stopSequences } = options;
    to.add(Attribute.OPERATION_NAME, Operation.CHAT);
    to.add(Attribute.PROVIDER_NAME, provider?.name);
    to.add(Attribute.SERVER_ADDRESS, provider?.address);
    to.add(Attribute.SERVER_PORT, provider?.port);
    to.add(Attribute.CONVERSATION_ID, this.conversationId);
    to.add(Attribute.ITERATION, iteration);
    if (mode === 'stream') to.add(Attribute.REQUEST_STREAM, true);
    to.add(Attribute.REQUEST_MODEL, options.model);
    to.add(Attribute.REQUEST_TEMPERATURE, options.temperature);
    to.add(Attribute.REQUEST_TOP_P, options.topP);
    to.add(Attribute.REQUEST_TOP_K, options.topK);
    to.add(Attribute.REQUEST_FREQUENCY_PENALTY, options.frequencyPenalty);
    to.add(Attribute.REQUEST_PRESENCE_PENALTY, options.presencePenalty);
    to.add(Attribute.REQUEST_MAX_TOKENS, options.maxCompletionTokens ?? options.maxTokens);
    to.add(Attribute.REQUEST_STOP_SEQUENCES, stopSequences && [...stopSequences]);
    to.add(Attribute.REQUEST_SEED, options.seed);
    if (responseFormat !== undefined)
      to.add(Attribute.OUTPUT_TYPE, responseFormat === 'text' ? 'text' : 'json');
  }

  onEvent({ type }: ObservedEvent, seconds: number, context: Context): void {
    if (type !== 'chunk') return;
    const { metrics } = this;
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

  measure({ ending, outcome, error, duration, context }: SpanEnd): void {
    const { metrics, callLabels } = this;
    if (outcome === 'error') {
      const labels = { ...callLabels, ...metrics.label(Attribute.ERROR_TYPE, errorLabel(error)) };
      metrics.record(Metric.OPERATION_DURATION, duration, labels, context);
    }
    // the duration of a cancelled call is that of the caller, not of the model
    if (ending.type !== 'response') return;
    const { model, usage } = ending.response;
    const labels = { ...callLabels, ...metrics.label(Attribute.RESPONSE_MODEL, model) };
    metrics.record(Metric.OPERATION_DURATION, duration, labels, context);
    if (!usage) return;
    for (const type of ['input', 'output'] as const) {
      const tokenLabels = { ...labels, [Attribute.TOKEN_TYPE]: type };
      metrics.record(Metric.TOKEN_USAGE, usage[`${type}Tokens`], tokenLabels, context);
    }
  }

  addEnd(to: AttributeSet, { ending }: SpanEnd): void {
    if (this.call.mode === 'stream') {
      to.add(Attribute.RESPONSE_CHUNKS, this.chunks);
      to.add(Attribute.RESPONSE_TIME_TO_FIRST_CHUNK, this.firstChunk);
    }
    if (ending.type === 'response') addResponse(to, ending.response, this.capture);
    this.capture?.addPrompt(to, this.call.prompt);
    to.add(Attribute.TOOL_DEFINITIONS, this.capture?.toolDefinitions(this.call.options.tools));
  }
}

/** Adds the attributes of a response, for model calls and turns alike. */
export function addResponse(
  to: AttributeSet,
  { id, model, generations, usage }: ChatResponse,
  capture: ContentCapture | undefined,
): void {
  const reasons = generations.flatMap(({ finishReason }) => finishReason || []);
  to.add(Attribute.RESPONSE_ID, id);
  to.add(Attribute.RESPONSE_MODEL, model);
  if (reasons.length > 0) to.add(Attribute.RESPONSE_FINISH_REASONS, reasons);
  to.add(Attribute.USAGE_INPUT_TOKENS, usage?.inputTokens);
  to.add(Attribute.USAGE_OUTPUT_TOKENS, usage?.outputTokens);
  to.add(Attribute.USAGE_CACHE_READ_INPUT_TOKENS, usage?.cachedInputTokens);
  to.add(Attribute.USAGE_REASONING_OUTPUT_TOKENS, usage?.reasoningTokens);
  to.add(Attribute.OUTPUT_MESSAGES, capture?.outputMessages(generations));
}
