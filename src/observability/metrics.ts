import type { Attributes, Context, Counter, Histogram, Meter } from '@opentelemetry/api';
import type { ModelProvider } from '../chat/chat-model.js';
import type { ChatResponse } from '../chat/chat-response.js';
import { ClosedSet } from './closed-set.js';
import { Measurement } from './measurement.js';
import { ModelLabels } from './model-labels.js';
import { Attribute, Metric, Operation, OTHER } from './names.js';
import type { Outbox } from './outbox.js';

// bounds of the conventions, so that series of different libraries can be added up
const SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const TOKENS = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864];
const COUNTS = [1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 25, 50, 100];

/** Stands for the provider of models that do not say theirs. */
const NO_PROVIDER = {};

/** The instruments of one meter. All labels are from closed sets; ids of conversations, turns and calls are never among them. */
export class Metrics {
  private readonly models = new ClosedSet(100);
  private readonly providers = new ClosedSet(100);
  private readonly servers = new ClosedSet(100);
  private readonly tools = new ClosedSet(1_000);
  private readonly errors = new ClosedSet(100);
  private readonly toolSuccesses = new Map<string | undefined, Attributes>();
  private readonly modelsOf = new WeakMap<object, Map<string | undefined, ModelLabels>>();
  private readonly operationDuration: Histogram;
  private readonly tokenUsage: Histogram;
  private readonly firstChunk: Histogram;
  private readonly perChunk: Histogram;
  private readonly toolDuration: Histogram;
  private readonly turnDuration: Histogram;
  private readonly turnIterations: Histogram;
  private readonly limitBreaches: Counter;

  /** @param outbox where measurements wait for the meter */
  constructor(
    meter: Meter,
    readonly outbox: Outbox,
  ) {
    const histogram = (name: string, unit: string, description: string, explicitBucketBoundaries: number[]): Histogram =>
      meter.createHistogram(name, { unit, description, advice: { explicitBucketBoundaries } });
    this.operationDuration = histogram(Metric.OPERATION_DURATION, 's', 'Duration of a model call.', SECONDS);
    this.tokenUsage = histogram(Metric.TOKEN_USAGE, '{token}', 'Input and output tokens of a model call.', TOKENS);
    this.firstChunk = histogram(Metric.TIME_TO_FIRST_CHUNK, 's', 'Time from the request to the first chunk of a stream.', SECONDS);
    this.perChunk = histogram(Metric.TIME_PER_OUTPUT_CHUNK, 's', 'Time from one chunk of a stream to the next.', SECONDS);
    this.toolDuration = histogram(Metric.TOOL_DURATION, 's', 'Duration of a tool call, retries included.', SECONDS);
    this.turnDuration = histogram(Metric.TURN_DURATION, 's', 'Duration of a turn.', SECONDS);
    this.turnIterations = histogram(Metric.TURN_ITERATIONS, '{iteration}', 'Iterations that a turn took.', COUNTS);
    this.limitBreaches = meter.createCounter(Metric.LIMIT_BREACHES, { unit: '{breach}', description: 'Limits that turns reached.' });
  }

  /** The labels of the calls of a model: the same object each time, however often a provider and a model are asked. */
  modelLabels(provider: ModelProvider | undefined, model: string | undefined): ModelLabels {
    const source = provider ?? NO_PROVIDER;
    const label = model === undefined ? undefined : this.models.label(model);
    const ofProvider = this.modelsOf.get(source) ?? new Map<string | undefined, ModelLabels>();
    this.modelsOf.set(source, ofProvider);
    const labels = ofProvider.get(label) ?? new ModelLabels(this.nameLabels(provider, label), this.serverLabels(provider), this.models);
    ofProvider.set(label, labels);
    return labels;
  }

  private nameLabels(provider: ModelProvider | undefined, model: string | undefined): Attributes {
    return {
      // in the order in which meters sort them, for each measurement
      [Attribute.OPERATION_NAME]: Operation.CHAT,
      ...(provider && { [Attribute.PROVIDER_NAME]: this.providers.label(provider.name) }),
      ...(model !== undefined && { [Attribute.REQUEST_MODEL]: model }),
    };
  }

  private serverLabels({ address, port }: Partial<ModelProvider> = {}): Attributes {
    if (address === undefined) return {};
    if (this.servers.label(`${address}:${port ?? ''}`) === OTHER) return { [Attribute.SERVER_ADDRESS]: OTHER };
    return { [Attribute.SERVER_ADDRESS]: address, ...(port !== undefined && { [Attribute.SERVER_PORT]: port }) };
  }

  modelCall(labels: ModelLabels, seconds: number, { model, usage }: ChatResponse, context: Context): void {
    const { answered, input, output } = labels.answeredBy(model);
    this.outbox.add(new Measurement(this.operationDuration, seconds, answered, context));
    if (!usage) return;
    this.outbox.add(new Measurement(this.tokenUsage, usage.inputTokens, input, context));
    this.outbox.add(new Measurement(this.tokenUsage, usage.outputTokens, output, context));
  }

  modelFailure({ request }: ModelLabels, seconds: number, error: string, context: Context): void {
    const labels = { ...request, [Attribute.ERROR_TYPE]: this.errors.label(error) };
    this.outbox.add(new Measurement(this.operationDuration, seconds, labels, context));
  }

  firstChunkAfter(seconds: number, { request }: ModelLabels, context: Context): void {
    this.outbox.add(new Measurement(this.firstChunk, seconds, request, context));
  }

  nextChunkAfter(seconds: number, { chunk }: ModelLabels, context: Context): void {
    this.outbox.add(new Measurement(this.perChunk, seconds, chunk, context));
  }

  /** @param tool undefined for one that nobody has: its name is the model's invention */
  toolCall(seconds: number, tool: string | undefined, outcome: string, error: string | undefined, context: Context): void {
    const label = tool === undefined ? undefined : this.tools.label(tool);
    const labels = outcome === 'success' ? this.toolSuccess(label) : toolLabels(label, outcome, error && this.errors.label(error));
    this.outbox.add(new Measurement(this.toolDuration, seconds, labels, context));
  }

  /** Made once, since most calls are of these. */
  private toolSuccess(tool: string | undefined): Attributes {
    const labels = this.toolSuccesses.get(tool) ?? toolLabels(tool, 'success');
    this.toolSuccesses.set(tool, labels);
    return labels;
  }

  turn(seconds: number, iterations: number, outcome: string, error: string | undefined, context: Context): void {
    const labels = {
      [Attribute.OPERATION_NAME]: Operation.INVOKE_AGENT,
      [Attribute.OUTCOME]: outcome,
      ...(error !== undefined && { [Attribute.ERROR_TYPE]: this.errors.label(error) }),
    };
    this.outbox.add(new Measurement(this.turnDuration, seconds, labels, context));
    this.outbox.add(new Measurement(this.turnIterations, iterations, labels, context));
  }

  limit(limit: string): void {
    this.limitBreaches.add(1, { [Attribute.LIMIT]: limit });
  }
}

function toolLabels(tool: string | undefined, outcome: string, error?: string): Attributes {
  return {
    [Attribute.OPERATION_NAME]: Operation.EXECUTE_TOOL,
    ...(tool !== undefined && { [Attribute.TOOL_NAME]: tool }),
    [Attribute.OUTCOME]: outcome,
    ...(error !== undefined && { [Attribute.ERROR_TYPE]: error }),
  };
}
