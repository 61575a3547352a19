import type { Context } from '@opentelemetry/api';
import type { ChatOptions } from '../chat/chat-options.js';
import type { ChatResponse } from '../chat/chat-response.js';
import type { ObservedEnding, ObservedEvent, ObservedModelCall } from '../chat/observation.js';
import type { AttributeSet } from './attribute-set.js';
import type { ContentCapture } from './content-capture.js';
import { errorLabel } from './error-type.js';
import type { Metrics } from './metrics.js';
import type { ModelLabels } from './model-labels.js';
import { Attribute, Operation } from './names.js';
import type { SpanEnd, SpanRecord } from './span-record.js';

/** A model call: `chat {model}`. */
export class ModelCallRecord implements SpanRecord {
  readonly spanName: string;
  readonly isClient = true;
  private readonly labels: ModelLabels;
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

  addBeginning(to: AttributeSet): void {
    const { provider, mode, iteration, options } = this.call;
    to.add(Attribute.OPERATION_NAME, Operation.CHAT);
    to.add(Attribute.PROVIDER_NAME, provider?.name);
    to.add(Attribute.SERVER_ADDRESS, provider?.address);
    to.add(Attribute.SERVER_PORT, provider?.port);
    to.add(Attribute.CONVERSATION_ID, this.conversationId);
    to.add(Attribute.ITERATION, iteration);
    if (mode === 'stream') to.add(Attribute.REQUEST_STREAM, true);
    addSampling(to, options);
  }

  note({ type }: ObservedEvent, seconds: number, context: Context): void {
    if (type !== 'chunk') return;
    this.chunks++;
    if (this.firstChunk === undefined) this.metrics.firstChunkAfter((this.firstChunk = seconds), this.labels, context);
    else this.metrics.nextChunkAfter(seconds - this.lastChunk, this.labels, context);
    this.lastChunk = seconds;
  }

  measure(ending: ObservedEnding, { outcome, error, duration, context }: SpanEnd): void {
    if (outcome === 'error') this.metrics.modelFailure(this.labels, duration, errorLabel(error), context);
    // who cancels has not waited for the answer, so its time says nothing about the model
    else if (ending.type === 'response') this.metrics.modelCall(this.labels, duration, ending.response, context);
  }

  addEnd(to: AttributeSet, ending: ObservedEnding): void {
    if (this.call.mode === 'stream') {
      to.add(Attribute.RESPONSE_CHUNKS, this.chunks);
      to.add(Attribute.RESPONSE_TIME_TO_FIRST_CHUNK, this.firstChunk);
    }
    if (ending.type === 'response') addResponse(to, ending.response, this.capture);
  }

  addContent(to: AttributeSet): void {
    const { capture } = this;
    if (!capture) return;
    const { prompt, options } = this.call;
    to.add(Attribute.SYSTEM_INSTRUCTIONS, capture.instructions(prompt));
    to.add(Attribute.INPUT_MESSAGES, capture.messages(prompt));
    if (options.tools?.length) to.add(Attribute.TOOL_DEFINITIONS, capture.definitions(options.tools.map(({ definition }) => definition)));
  }
}

/** What is said of an answer, of a model call and of a turn alike. */
export function addResponse(to: AttributeSet, response: ChatResponse, capture: ContentCapture | undefined): void {
  const { id, model, generations, usage } = response;
  to.add(Attribute.RESPONSE_ID, id);
  to.add(Attribute.RESPONSE_MODEL, model);
  const reasons: string[] = [];
  for (const { finishReason } of generations) if (finishReason) reasons.push(finishReason);
  if (reasons.length > 0) to.add(Attribute.RESPONSE_FINISH_REASONS, reasons);
  to.add(Attribute.USAGE_INPUT_TOKENS, usage?.inputTokens);
  to.add(Attribute.USAGE_OUTPUT_TOKENS, usage?.outputTokens);
  to.add(Attribute.USAGE_CACHE_READ_INPUT_TOKENS, usage?.cachedInputTokens);
  to.add(Attribute.USAGE_REASONING_OUTPUT_TOKENS, usage?.reasoningTokens);
  to.add(Attribute.OUTPUT_MESSAGES, capture?.answers(generations));
}

function addSampling(to: AttributeSet, options: ChatOptions): void {
  const { responseFormat, stopSequences } = options;
  to.add(Attribute.REQUEST_MODEL, options.model);
  to.add(Attribute.REQUEST_TEMPERATURE, options.temperature);
  to.add(Attribute.REQUEST_TOP_P, options.topP);
  to.add(Attribute.REQUEST_TOP_K, options.topK);
  to.add(Attribute.REQUEST_FREQUENCY_PENALTY, options.frequencyPenalty);
  to.add(Attribute.REQUEST_PRESENCE_PENALTY, options.presencePenalty);
  to.add(Attribute.REQUEST_MAX_TOKENS, options.maxCompletionTokens ?? options.maxTokens);
  to.add(Attribute.REQUEST_STOP_SEQUENCES, stopSequences && [...stopSequences]);
  to.add(Attribute.REQUEST_SEED, options.seed);
  if (responseFormat !== undefined) to.add(Attribute.OUTPUT_TYPE, responseFormat === 'text' ? 'text' : 'json');
}
