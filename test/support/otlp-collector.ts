import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

/** A value as OTLP has it: its type is the name of its one field. */
export type OtlpValue = Readonly<Record<string, unknown>>;

export interface OtlpAttribute {
  readonly key: string;
  readonly value: OtlpValue;
}

export interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly OtlpAttribute[];
  readonly events: readonly {
    readonly name: string;
    readonly timeUnixNano: string;
    readonly attributes: readonly OtlpAttribute[];
  }[];
  readonly status: { readonly code: number; readonly message?: string };
}

export interface OtlpPoint {
  readonly attributes: readonly OtlpAttribute[];
  readonly count?: number;
  readonly sum?: number;
  readonly asInt?: number;
  readonly bucketCounts?: readonly number[];
  readonly explicitBounds?: readonly number[];
}

export interface OtlpMetric {
  readonly name: string;
  readonly unit: string;
  readonly description: string;
  readonly histogram?: { readonly dataPoints: readonly OtlpPoint[] };
  readonly sum?: { readonly dataPoints: readonly OtlpPoint[]; readonly isMonotonic: boolean };
}

/** Telemetry of one scope of one resource. */
export interface Exported {
  readonly resource: readonly OtlpAttribute[];
  readonly scope: { readonly name: string; readonly version?: string };
  readonly spans: readonly OtlpSpan[];
  readonly metrics: readonly OtlpMetric[];
}

interface Scoped {
  readonly scope: Exported['scope'];
  readonly spans?: readonly OtlpSpan[];
  readonly metrics?: readonly OtlpMetric[];
}

interface Payload {
  readonly resource: { readonly attributes: readonly OtlpAttribute[] };
  readonly scopeSpans?: readonly Scoped[];
  readonly scopeMetrics?: readonly Scoped[];
}

/** An OTLP endpoint on the loopback that accepts JSON, compressed or not. */
export class Collector {
  /** Paths and content encodings of the requests. */
  readonly requests: { readonly path: string; readonly encoding: string | undefined }[] = [];
  readonly exported: Exported[] = [];
  private readonly server = createServer();

  private constructor(answer: (response: ServerResponse) => unknown) {
    this.server.on('request', (request, response) => {
      const pieces: Buffer[] = [];
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('end', () => {
        const encoding = request.headers['content-encoding'];
        this.requests.push({ path: request.url ?? '', encoding });
        const body = Buffer.concat(pieces);
        this.keep((encoding === 'gzip' ? gunzipSync(body) : body).toString());
        answer(response);
      });
    });
  }

  /** @param answer response to an export; 200 by default */
  static async start(
    answer = (response: ServerResponse): unknown =>
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}'),
  ): Promise<Collector> {
    const collector = new Collector(answer);
    await new Promise<void>((resolve) => collector.server.listen(0, '127.0.0.1', resolve));
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  get spans(): readonly OtlpSpan[] {
    return this.exported.flatMap(({ spans }) => spans);
  }

  /** Metrics of the last export, which has the sums since the start. */
  get metrics(): readonly OtlpMetric[] {
    return this.exported.findLast(({ metrics }) => metrics.length > 0)?.metrics ?? [];
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private keep(text: string): void {
    const body = JSON.parse(text) as {
      readonly resourceSpans?: readonly Payload[];
      readonly resourceMetrics?: readonly Payload[];
    };
    for (const { resource, scopeSpans = [], scopeMetrics = [] } of [
      ...(body.resourceSpans ?? []),
      ...(body.resourceMetrics ?? []),
    ])
      for (const { scope, spans = [], metrics = [] } of [...scopeSpans, ...scopeMetrics])
        this.exported.push({ resource: resource.attributes, scope, spans, metrics });
  }
}
