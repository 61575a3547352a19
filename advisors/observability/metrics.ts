import type { Attributes, Context, Counter, Histogram, Meter } from '@opentelemetry/api';
import type { ModelProvider } from '../../src/core/chat/chat-model.js';
import { Attribute, Metric, Operation } from '../../src/core/observation/names.js';
import { OTHER } from '../../src/core/errors/error-type.js';
import { reportFailure, type OpenTelemetry } from './open-telemetry.js';

// bucket boundaries of the conventions, so that series of different libraries can be summed
const SECONDS = Array.from({ length: 14 }, (_, power) => 2 ** power / 100);
const TOKENS = Array.from({ length: 14 }, (_, power) => 4 ** power);
const COUNTS = [1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 25, 50, 100];

/** Unit, bucket boundaries and description of each histogram. */
const HISTOGRAMS = {
  [Metric.OPERATION_DURATION]: ['s', SECONDS, 'Duration of a model call.'],
  [Metric.TOKEN_USAGE]: ['{token}', TOKENS, 'Input and output tokens of a model call.'],
  [Metric.TIME_TO_FIRST_CHUNK]: ['s', SECONDS, 'Time from the request to the first chunk.'],
  [Metric.TIME_PER_OUTPUT_CHUNK]: ['s', SECONDS, 'Time from one chunk of a stream to the next.'],
  [Metric.TOOL_DURATION]: ['s', SECONDS, 'Duration of a tool call, retries included.'],
  [Metric.TURN_DURATION]: ['s', SECONDS, 'Duration of a turn.'],
  [Metric.TURN_ITERATIONS]: ['{iteration}', COUNTS, 'Iterations of a turn.'],
} as const;

type HistogramName = keyof typeof HISTOGRAMS;

/**
 * Instruments of one meter. A metric has a series for each value of a label, so values that users,
 * models or servers choose are limited in number; all others become `_OTHER`. Ids are not labels.
 */
export class Metrics {
  private readonly values = new Map<string, Set<string>>();
  private readonly histograms: Readonly<Record<HistogramName, Histogram>>;
  private readonly limitBreaches: Counter;

  constructor(
    private readonly api: OpenTelemetry,
    meter: Meter,
  ) {
    const histograms = Object.entries(HISTOGRAMS).map(([name, [unit, boundaries, description]]) => {
      const advice = { explicitBucketBoundaries: [...boundaries] };
      return [name, meter.createHistogram(name, { unit, description, advice })];
    });
    this.histograms = Object.fromEntries(histograms) as Record<HistogramName, Histogram>;
    this.limitBreaches = meter.createCounter(Metric.LIMIT_BREACHES, {
      unit: '{breach}',
      description: 'Limits that turns reached.',
    });
  }

  /** @param context context in which the measured span is active, for exemplars */
  record(name: HistogramName, value: number, labels: Attributes, context: Context): void {
    try {
      this.histograms[name].record(value, labels, context);
    } catch (error) {
      reportFailure(this.api, error);
    }
  }

  countLimit(limit: string): void {
    this.limitBreaches.add(1, { [Attribute.LIMIT]: limit });
  }

  /** Labels of the chunks of a model; few, because meters serialize them for each chunk. */
  modelLabels(provider: ModelProvider | undefined, model: string | undefined): Attributes {
    return {
      // in the order in which meters sort them for each measurement
      [Attribute.OPERATION_NAME]: Operation.CHAT,
      ...this.label(Attribute.PROVIDER_NAME, provider?.name),
      ...this.label(Attribute.REQUEST_MODEL, model),
    };
  }

  serverLabels({ address, port }: Partial<ModelProvider> = {}): Attributes {
    if (address === undefined) return {};
    if (this.limitValue('server', `${address}:${port ?? ''}`) === OTHER)
      return { [Attribute.SERVER_ADDRESS]: OTHER };
    return {
      [Attribute.SERVER_ADDRESS]: address,
      ...(port !== undefined && { [Attribute.SERVER_PORT]: port }),
    };
  }

  /** A label with a limited number of values; none without a value. */
  label(name: string, value: string | undefined): Attributes {
    if (value === undefined) return {};
    const isModel = name === Attribute.RESPONSE_MODEL;
    return { [name]: this.limitValue(isModel ? Attribute.REQUEST_MODEL : name, value) };
  }

  private limitValue(kind: string, value: string): string {
    const known = this.values.get(kind) ?? new Set();
    this.values.set(kind, known);
    if (known.has(value)) return value;
    const maxValues = kind === Attribute.TOOL_NAME ? 1_000 : 100;
    if (known.size >= maxValues || value.length > 200) return OTHER;
    known.add(value);
    return value;
  }
}
