import { callsOf } from '../../src/core/chat/message.js';
import { expect } from 'chai';
import fc from 'fast-check';
import {
  ChatClient,
  defineTool,
  IncompleteResponseError,
  ModelCallError,
  type ChatResponse,
} from '../../src/index.js';
import { BodyReader } from '../../src/models/http/body-reader.js';
import { CompletionFold } from '../../src/models/openai/completion-fold.js';
import { OpenAIChatModel } from '../../src/models/openai/index.js';
import { ReportedError } from '../../src/models/http/http-error.js';
import { chunksOf, jsonList, loadCassettes, type Json } from './cassettes.js';
import { bodyText } from './playback-server.js';
import { answerOf, errorOf, isCut, type RecordedAnswer } from './recorded-answer.js';
import { lastOf, settle } from './recording-replay.js';
import { sendText, WireServer, type Exchange } from './wire-server.js';

/** A recorded stream as bytes. */
interface RecordedStream {
  readonly name: string;
  readonly provider: string;
  readonly bytes: Buffer;
  readonly answer: RecordedAnswer;
  /** The first length at which a finish reason or the end marker is there. */
  readonly completeFrom: number;
}

const EVENTS = new Headers({ 'content-type': 'text/event-stream' });
/**
 * Maximum length of a stream to cut: every cut reads it from its start, so the work grows with the
 * square of the length.
 */
const LONGEST_TO_CUT = 6_000;

/** Size of the sweeps over the recorded streams. */
export interface StreamSweep {
  /** Number of streams to cut after every byte. */
  readonly streams: number;
  /** Number of streams to split at random. */
  readonly splits: number;
}

/** Reads recorded streams that are cut and split at any byte. */
export function describeRecordedStreams({ streams: count, splits }: StreamSweep): void {
  describe('recorded streams, byte by byte', function () {
    this.timeout(120_000);
    let streams: readonly RecordedStream[];

    before(function () {
      const interactions = loadCassettes(this).flatMap(({ id, provider, interactions: list }) =>
        list.map((one, at) => ({ ...one, name: `${id}#${at}`, provider })),
      );
      streams = interactions
        .filter(({ response }) => response.sse && !errorOf(response) && !isCut(response))
        .map(({ name, provider, response }) => {
          const bytes = Buffer.from(bodyText(response));
          return {
            name,
            provider,
            bytes,
            answer: answerOf(response),
            completeFrom: firstEnd(bytes),
          };
        })
        .sort((a, b) => a.bytes.length - b.bytes.length);
    });

    it('[F44] rejects a stream that is cut after any byte', () => {
      const cut = diverse(
        streams.filter(({ bytes }) => bytes.length <= LONGEST_TO_CUT),
        count,
      );
      let cuts = 0;
      const wrong = cut.flatMap((stream) => {
        cuts += stream.bytes.length;
        return Array.from({ length: stream.bytes.length }, (_, length) =>
          cutProblem(stream, length),
        ).filter((problem) => problem !== undefined);
      });
      console.log(
        `      ${cut.length} streams of ${new Set(cut.map(({ provider }) => provider)).size} providers, cut at ${cuts} places`,
      );
      expect(wrong.slice(0, 10)).to.deep.equal([]);
      expect(cut).to.not.be.empty;
    });

    it('[F55] returns the same response wherever the network splits a stream', () => {
      const whole = new Map(streams.map((stream) => [stream, essence(read([stream.bytes]))]));
      const places = fc.array(fc.nat(), { maxLength: 40 });
      fc.assert(
        fc.property(fc.nat(streams.length - 1), places, (at, cuts) => {
          const stream = streams[at] as RecordedStream;
          expect(essence(read(pieces(stream.bytes, cuts)))).to.deep.equal(whole.get(stream));
        }),
        { numRuns: splits },
      );
    });

    for (const framing of ['chunked', 'content-length', 'until closed'] as const) {
      for (const how of ['FIN', 'RST'] as const) {
        it(`[F44] runs no tool of a stream that the server cuts by ${how} (${framing})`, async () => {
          const withCalls = diverse(
            streams.filter(({ answer }) => (answer.choices[0]?.calls.length ?? 0) > 0),
            4,
          );
          const problems: string[] = [];
          for (const stream of withCalls) {
            for (const part of [0.2, 0.6, 0.9]) {
              const length = Math.floor((stream.completeFrom - 1) * part);
              const outcome = await cutOnTheWire(stream, length, framing, how);
              if (!(outcome.error instanceof IncompleteResponseError))
                problems.push(`${stream.name} at ${length}: ${String(outcome.error)}`);
              if (outcome.toolRuns > 0) problems.push(`${stream.name} at ${length}: a tool ran`);
            }
          }
          expect(problems).to.deep.equal([]);
          expect(withCalls).to.not.be.empty;
        });
      }
    }
  });
}

/** The shortest streams, of as many providers as there are. */
function diverse(streams: readonly RecordedStream[], count: number): readonly RecordedStream[] {
  const rank = new Map<string, number>();
  const ranked = streams.map((stream) => {
    const before = rank.get(stream.provider) ?? 0;
    rank.set(stream.provider, before + 1);
    return { stream, before };
  });
  const ordered = [...ranked].sort((a, b) => a.before - b.before);
  return ordered.slice(0, count).map(({ stream }) => stream);
}

/** Position after the first line with a finish reason or the end marker. */
function firstEnd(bytes: Buffer): number {
  let start = 0;
  for (const line of bytes.toString('latin1').split('\n')) {
    const end = start + line.trimEnd().length;
    if (isEnd(bytes.subarray(start, end).toString())) return end;
    start += line.length + 1;
  }
  return bytes.length;
}

function isEnd(line: string): boolean {
  const payload = line.replace(/^data: ?/, '');
  if (payload === line || payload.startsWith('[DONE]')) return payload.startsWith('[DONE]');
  const [chunk] = chunksOf([payload]);
  return jsonList(chunk?.['choices']).some(
    ({ finish_reason: reason }) => typeof reason === 'string' && reason !== '',
  );
}

function read(parts: readonly Uint8Array[]): ChatResponse {
  const fold = new CompletionFold(() => undefined);
  const reader = new BodyReader(fold, () => [], {
    maxEventBytes: Infinity,
    maxResponseValues: Infinity,
  });
  for (const part of parts) reader.push(part);
  return reader.end(EVENTS);
}

function essence(response: ChatResponse): unknown {
  return JSON.parse(JSON.stringify(response)) as unknown;
}

function pieces(bytes: Buffer, cuts: readonly number[]): readonly Uint8Array[] {
  const places = [0, ...cuts.map((cut) => cut % bytes.length), bytes.length].sort((a, b) => a - b);
  return places.slice(1).map((end, at) => bytes.subarray(places[at], end));
}

function cutProblem(
  { name, bytes, answer, completeFrom }: RecordedStream,
  length: number,
): string | undefined {
  try {
    const { text, message } = read([bytes.subarray(0, length)]);
    if (length < completeFrom)
      return `${name}: complete after ${length} bytes, before any end at ${completeFrom}`;
    if (!answer.choices[0]?.text.startsWith(text ?? ''))
      return `${name}: another text after ${length} bytes`;
    const whole = answer.choices[0].calls.map((call) => call.arguments);
    return callsOf(message).every((call) => whole.includes(call.arguments))
      ? undefined
      : `${name}: part of a call after ${length} bytes`;
  } catch (error) {
    if (
      error instanceof IncompleteResponseError ||
      (error instanceof ModelCallError && length < completeFrom)
    )
      return undefined;
    if (error instanceof ReportedError)
      return `${name}: a cut taken for an error of the provider after ${length} bytes`;
    throw error;
  }
}

interface CutOutcome {
  readonly error: unknown;
  readonly toolRuns: number;
}

async function cutOnTheWire(
  stream: RecordedStream,
  length: number,
  framing: string,
  how: 'FIN' | 'RST',
): Promise<CutOutcome> {
  let toolRuns = 0;
  const server = await WireServer.start((exchange) =>
    exchange.index === 0 ? cut(exchange, stream, length, framing, how) : sendText(exchange, 'done'),
  );
  try {
    const model = new OpenAIChatModel({
      model: 'm',
      apiKey: 'sk-test',
      baseURL: server.baseURL,
      maxRetries: 0,
    });
    const names = new Set(stream.answer.choices[0]?.calls.map(({ name }) => name));
    const tools = [...names].map((name) => defineTool({ name, execute: () => ++toolRuns }));
    const { error } = await settle(() =>
      lastOf(
        ChatClient.create(model)
          .prompt('hi')
          .tools(...tools)
          .stream()
          .events(),
      ),
    );
    return { error, toolRuns };
  } finally {
    await server.close();
  }
}

function cut(
  { response, socket }: Exchange,
  { bytes }: RecordedStream,
  length: number,
  framing: string,
  how: 'FIN' | 'RST',
): void {
  const headers: Json =
    framing === 'content-length' ? { 'content-length': String(bytes.length) } : {};
  if (framing === 'until closed') response.useChunkedEncodingByDefault = false;
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    ...(headers as Record<string, string>),
  });
  response.write(bytes.subarray(0, length), () =>
    how === 'FIN' ? socket.end() : socket.resetAndDestroy(),
  );
}
