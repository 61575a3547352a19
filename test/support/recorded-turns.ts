import { defineTool, type Message } from '../../src/index.js';
import { wireIdOf } from '../../src/core/chat/message.js';
import {
  isJson,
  jsonList,
  stringOf,
  type Cassette,
  type Interaction,
  type Json,
  type RecordedResponse,
} from './cassettes.js';
import { answerOf, errorOf, isCut, textOf } from './recorded-answer.js';
import { loopsOf, toTools } from './recorded-loop.js';
import { toMessage } from './recorded-request.js';

/** A recorded turn as an application would make it, and what came of it. */
export interface RecordedTurn {
  readonly messages: readonly Message[];
  readonly tools: ReturnType<typeof toTools>;
  readonly isStream: boolean;
  readonly responses: readonly RecordedResponse[];
  readonly text: string;
  /** Ids of the calls in the order of their results. */
  readonly callIds: readonly string[];
  /** Input and output tokens of all requests; undefined if one has none. */
  readonly usage: readonly [number, number] | undefined;
}

/** The first turn of recordings of chat completions, one with tools if there is any. */
export function chatTurnOf(cassettes: readonly Cassette[]): RecordedTurn | undefined {
  const loop = cassettes.flatMap(loopsOf)[0]?.interactions ?? answersOf(cassettes)[0];
  if (!loop) return undefined;
  const answers = loop.map(({ response }) => answerOf(response));
  const last = loop.at(-1)?.request.body ?? {};
  return {
    ...partsOf(loop),
    messages: jsonList(loop[0]?.request.body?.['messages']).map(toMessage),
    tools: toTools(loop),
    text: answers.at(-1)?.choices[0]?.text ?? '',
    callIds: jsonList(last['messages']).flatMap((message) =>
      message['role'] === 'tool' ? [stringOf(message['tool_call_id'])] : [],
    ),
    usage: sumOf(answers.map(({ usage }) => usage)),
  };
}

function answersOf(cassettes: readonly Cassette[]): readonly (readonly Interaction[])[] {
  return cassettes.flatMap(({ interactions }) =>
    interactions
      .filter(({ request, response }) => request.body && !errorOf(response) && !isCut(response))
      .map((interaction) => [interaction]),
  );
}

/** The first turn of recordings of the Responses API, one with tools if there is any. */
export function responsesTurnOf(cassettes: readonly Cassette[]): RecordedTurn | undefined {
  const turns = cassettes
    .map(({ interactions, links }) =>
      interactions.slice(0, 1 + links.slice(1).findIndex((link) => !isLoop(link)) || undefined),
    )
    .filter((turn) => turn.every(({ request, response }) => request.body && isAnswer(response)));
  const turn = turns.find(({ length }) => length > 1) ?? turns[0];
  if (!turn) return undefined;
  const output = outputOf(turn.at(-1)?.response);
  const results = jsonList(turn.at(-1)?.request.body?.['input']).filter(
    ({ type }) => type === 'function_call_output',
  );
  return {
    ...partsOf(turn),
    messages: messagesOf(turn[0]?.request.body ?? {}),
    tools: functionsOf(turn[0]?.request.body ?? {}, results),
    text: output.flatMap(({ content }) => jsonList(content).map((part) => part['text'])).join(''),
    callIds: results.map((result) => stringOf(result['call_id'])),
    usage: sumOf(turn.map(({ response }) => usageOf(finalOf(response)))),
  };
}

const isLoop = (link: Cassette['links'][number] | undefined): boolean =>
  link?.kind === 'tool_loop' && link.strict;

function partsOf(turn: readonly Interaction[]): Pick<RecordedTurn, 'responses' | 'isStream'> {
  const responses = turn.map(({ response }) => response);
  return { responses, isStream: responses.some(({ sse }) => sse) };
}

function sumOf(usages: readonly (readonly [number, number] | undefined)[]): RecordedTurn['usage'] {
  let sum: readonly [number, number] = [0, 0];
  for (const usage of usages) {
    if (!usage) return undefined;
    sum = [sum[0] + usage[0], sum[1] + usage[1]];
  }
  return sum;
}

/** The whole response, of a stream the one in its last event. */
function finalOf({ body, sse }: RecordedResponse): Json {
  if (!sse) return isJson(body) ? body : {};
  const last: unknown = JSON.parse(sse.findLast((event) => event.startsWith('{')) ?? '{}');
  return isJson(last) && isJson(last['response']) ? last['response'] : {};
}

function isAnswer(response: RecordedResponse): boolean {
  return finalOf(response)['status'] === 'completed';
}

function outputOf(response: RecordedResponse | undefined): readonly Json[] {
  const output = response ? jsonList(finalOf(response)['output']) : [];
  return output.filter(({ type }) => type === 'message');
}

function usageOf({ usage }: Json): readonly [number, number] | undefined {
  if (!isJson(usage)) return undefined;
  return [Number(usage['input_tokens']), Number(usage['output_tokens'])];
}

function messagesOf({ input, instructions }: Json): readonly Message[] {
  const system: Message[] = instructions
    ? [{ role: 'system', content: stringOf(instructions) }]
    : [];
  if (typeof input === 'string') return [...system, { role: 'user', content: input }];
  const messages = jsonList(input).map<Message>(({ role, content }) =>
    role === 'user'
      ? { role, content: textOf(content) }
      : { role: 'system', content: textOf(content) },
  );
  return [...system, ...messages];
}

function functionsOf({ tools }: Json, results: readonly Json[]): ReturnType<typeof toTools> {
  const outputs = new Map(results.map((result) => [result['call_id'], stringOf(result['output'])]));
  return jsonList(tools)
    .filter(({ type }) => type === 'function')
    .map(({ name, parameters }) =>
      defineTool({
        name: stringOf(name),
        input: isJson(parameters) ? parameters : {},
        execute: (_, { call }) => outputs.get(wireIdOf(call)) ?? `no result of ${wireIdOf(call)}`,
      }),
    );
}
