import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A JSON object of a recording. */
export type Json = Readonly<Record<string, unknown>>;

/** Framing of the events of a server, if it is not plain `data: …`. */
export interface Framing {
  readonly eol?: string;
  readonly space?: boolean;
  readonly events?: readonly (string | null)[];
  readonly comments?: readonly { readonly before: number; readonly text: string }[];
}

/** Response of a provider: a JSON body, the payloads of a stream, or a text. */
export interface RecordedResponse {
  readonly status: number;
  readonly contentType: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly text?: string;
  readonly sse?: readonly string[];
  readonly ndjson?: readonly string[];
  readonly sseFraming?: Framing;
}

export interface Interaction {
  readonly request: { readonly body: Json | null };
  readonly response: RecordedResponse;
}

/** Relation of an interaction to the previous one. */
export interface Link {
  readonly kind: 'tool_loop' | 'turn' | 'retry';
  readonly strict: boolean;
}

/** A recorded conversation. */
export interface Cassette {
  readonly id: string;
  readonly api: string;
  readonly provider: string;
  readonly features: readonly string[];
  readonly quirks: readonly string[];
  readonly links: readonly (Link | null)[];
  readonly interactions: readonly Interaction[];
}

/** Recorded traffic is not part of the package: it lies beside the repository. */
const FOLDER = fileURLToPath(new URL('../../../shared/cassettes/', import.meta.url));

/**
 * The recordings of an API; where they are missing the test is skipped, with a printed reason, but
 * never in CI.
 */
export function loadCassettes(test: Mocha.Context, api = 'chat.completions'): readonly Cassette[] {
  if (!existsSync(`${FOLDER}index.json`)) {
    const reason = 'no recordings: ../shared/cassettes is missing';
    if (process.env['CI'] === 'true') throw new Error(reason);
    console.log(`skipped: ${reason}`);
    test.skip();
  }
  const index = readJson('index.json') as readonly {
    readonly api: string;
    readonly file: string;
  }[];
  return index.filter((row) => row.api === api).map((row) => readJson(row.file) as Cassette);
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(`${FOLDER}${file}`, 'utf8'));
}

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A list of JSON objects, whatever the value is. */
export function jsonList(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isJson) : [];
}

/** The chunks of a stream that are JSON objects. */
export function chunksOf(payloads: readonly string[]): readonly Json[] {
  return payloads
    .filter((payload) => payload.startsWith('{'))
    .map((payload) => JSON.parse(payload) as Json);
}

/** A text, empty if the value is none. */
export function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
