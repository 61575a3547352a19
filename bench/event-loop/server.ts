// The hostile model, in a process of its own so that its work blocks nothing that is measured. The name of the model selects the answer.
import { Readable } from 'node:stream';
import { chunk, completion, WireServer, type Exchange } from '../../test/support/wire-server.js';
import { callOf, nested } from './values.js';

interface Answer {
  readonly status?: number;
  readonly type?: 'text/html' | 'text/event-stream';
  /** The body in pieces. */
  readonly body: () => Iterable<string>;
}

const KIB = 1_024;
const MIB = 1_024 * KIB;

const page = (body: string): Answer => ({ status: 400, type: 'text/html', body: () => [body] });
const document = (body: () => string): Answer => ({ body: () => [body()] });
/** A document with a field that nothing reads. */
const withField = (json: () => string): Answer =>
  document(() => `${JSON.stringify(completion('x')).slice(0, -1)},"more":${json()}}`);
const event = (payload: unknown): string => `data: ${JSON.stringify(payload)}\n\n`;
const stream = (events: () => Iterable<string>): Answer => ({
  type: 'text/event-stream',
  *body() {
    yield* events();
    yield event(chunk({}, 'stop')) + 'data: [DONE]\n\n';
  },
});
/** JSON of about that length. */
const listOf = (item: string, length: number): string =>
  `[${`${item},`.repeat(Math.floor(length / (item.length + 1)) - 1)}${item}]`;
const calling = (calls: readonly object[]): Answer =>
  document(() =>
    JSON.stringify({
      choices: [{ message: { tool_calls: calls }, finish_reason: 'tool_calls' }],
    }),
  );
const details = Array.from({ length: 20_000 }, (_, index) => ({
  type: 'reasoning.text',
  text: 'x',
  id: `r${index}`,
  index,
}));

const ANSWERS: Readonly<Record<string, Answer>> = {
  'page of 50 KB': page('<'.repeat(50 * KIB)),
  'page of 200 KB': page('<'.repeat(200 * KIB)),
  'page of 256 KB': page('<'.repeat(256 * KIB)),
  'page of scripts': page('<script'.repeat((256 * KIB) / 7)),
  'page of blanks': page(' '.repeat(256 * KIB)),
  'error without end': page(`{"error":{"message":"${'sk-'.repeat(80 * KIB)}"}}`),
  'stream of events': stream(function* () {
    const piece = event({ choices: [{ index: 0, delta: { content: 'x' } }] }).repeat(1_000);
    for (let at = 0; at < 1_000; at++) yield piece;
  }),
  'stream of comments': stream(function* () {
    yield event(chunk({ content: 'x' }));
    for (let at = 0; at < 1_000; at++) yield ':\n\n'.repeat(1_000);
  }),
  'event of text': stream(() => [event(chunk({ content: 'x'.repeat(15 * MIB) }))]),
  'event of lists': stream(() => [
    `data: {"choices":[],"more":${listOf('[]', 15 * MIB)}}\n\n`,
    event(chunk({ content: 'x' })),
  ]),
  'event in lines': stream(() => [
    `data: {"choices":[],"more":[\n${'data:1,\n'.repeat(MIB)}data:1]}\n\n`,
    event(chunk({ content: 'x' })),
  ]),
  'document of text': document(() => JSON.stringify(completion('x'.repeat(16 * MIB)))),
  'document of escapes': document(() => JSON.stringify(completion('\n'.repeat(8 * MIB)))),
  'document of objects': withField(() => listOf('{"a":1,"b":"c"}', 16 * MIB)),
  'document of lists': withField(() => listOf('[]', 16 * MIB)),
  'document cut off': document(() => listOf('1', 16 * MIB).slice(0, -1)),
  'deep document': withField(() => nested(100_000)),
  'deep arguments': calling([callOf('tool', `{"a":${nested(100_000)}}`)]),
  'arguments cut off': calling([
    callOf('tool', '{}'),
    callOf('tool', `{"a":${listOf('1', 15 * MIB)}`),
  ]),
  'tool calls': calling(Array.from({ length: 20_000 }, (_, at) => callOf('tool', '{}', `c${at}`))),
  'unknown tool calls': calling(
    Array.from({ length: 20_000 }, (_, at) => callOf(`tool${at}`, '{}', `c${at}`)),
  ),
  'streamed tool calls': {
    type: 'text/event-stream',
    *body() {
      for (let index = 0; index < 20_000; index++)
        yield event(chunk({ tool_calls: [{ index, ...callOf('tool', '{}', `c${index}`) }] }));
      yield event(chunk({}, 'tool_calls')) + 'data: [DONE]\n\n';
    },
  },
  'reasoning details': document(() =>
    JSON.stringify({
      choices: [{ message: { content: 'x', reasoning_details: details }, finish_reason: 'stop' }],
    }),
  ),
  'streamed reasoning details': stream(() => [
    ...details.map((detail) => event(chunk({ reasoning_details: [detail] }))),
    event(chunk({ content: 'x' })),
  ]),
};

const bodies = new Map<string, readonly Buffer[]>();

/** The body, made once. */
function bodyOf(name: string, { body }: Answer): readonly Buffer[] {
  const known = bodies.get(name) ?? [...body()].map((piece) => Buffer.from(piece));
  bodies.set(name, known);
  return known;
}

function reply({ body, response }: Exchange): void {
  const name = String(body['model']);
  if (JSON.stringify(body['messages']).includes('"role":"tool"')) {
    response.end(JSON.stringify(completion('Done.')));
    return;
  }
  const answer = ANSWERS[name];
  if (!answer) throw new Error(`no answer for ${name}`);
  const { status = 200, type = 'application/json' } = answer;
  response.writeHead(status, { 'content-type': type });
  Readable.from(bodyOf(name, answer)).pipe(response);
}

const server = await WireServer.start(reply);
process.send?.(server.baseURL);
process.on('disconnect', () => process.exit(0));
