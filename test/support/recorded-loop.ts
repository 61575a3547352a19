import { ChatClient, defineTool } from '../../src/index.js';
import { wireIdOf } from '../../src/core/chat/message.js';
import { OpenAIChatModel } from '../../src/models/openai/index.js';
import { inOtherMode } from './body-conversion.js';
import {
  isJson,
  jsonList,
  type Cassette,
  type Interaction,
  type Json,
  type RecordedResponse,
} from './cassettes.js';
import type { PlaybackServer } from './playback-server.js';
import { answerOf, errorOf, isCut, textOf } from './recorded-answer.js';
import { ECHOED, essenceOf, toMessage } from './recorded-request.js';
import { lastOf, modeOf, settle, unequal, type Mode, type Outcome } from './recording-replay.js';

/**
 * A turn of strictly recorded iterations: the index of its first interaction and how many there
 * are.
 */
export interface RecordedLoop {
  readonly cassette: Cassette;
  readonly start: number;
  readonly interactions: readonly Interaction[];
}

/** The turns of a conversation whose tool loops a client that runs the tools must reproduce. */
export function loopsOf(cassette: Cassette): readonly RecordedLoop[] {
  const { interactions, links } = cassette;
  return interactions.flatMap((_, start) => {
    if (links[start]?.kind === 'tool_loop') return [];
    let end = start + 1;
    while (links[end]?.kind === 'tool_loop' && links[end]?.strict) end++;
    const turn = interactions.slice(start, end);
    const last = turn.at(-1);
    const whole =
      turn.length > 1 &&
      links[end]?.kind !== 'tool_loop' &&
      last &&
      answerOf(last.response).choices[0]?.calls.length === 0;
    return whole && turn.every(({ response }) => !errorOf(response) && !isCut(response))
      ? [{ cassette, start, interactions: turn }]
      : [];
  });
}

/** Replays a turn through a client whose tools answer from the recording. */
export async function replayLoop(
  server: PlaybackServer,
  { interactions }: RecordedLoop,
  mode: Mode,
): Promise<Outcome> {
  const responses = interactions.map(({ response }) =>
    modeOf(response) === mode ? response : inOtherMode(response),
  );
  const run = server.play(responses);
  const first = interactions[0]?.request.body ?? {};
  const model = new OpenAIChatModel({
    model: String(first['model']),
    apiKey: 'sk-test',
    baseURL: run.baseURL,
    maxRetries: 0,
  });
  const outcome = await settle((onEvent) => {
    const spec = ChatClient.create(model)
      .prompt()
      .messages(...jsonList(first['messages']).map(toMessage))
      .tools(...toTools(interactions));
    return mode === 'call' ? spec.call().chatResponse() : lastOf(spec.stream().events(), onEvent);
  });
  return { ...outcome, requests: run.requests };
}

export function toTools(
  interactions: readonly Interaction[],
): readonly ReturnType<typeof defineTool>[] {
  const last = jsonList(interactions.at(-1)?.request.body?.['messages']);
  const answers = new Map(
    last
      .filter(({ role }) => role === 'tool')
      .map((message) => [message['tool_call_id'], textOf(message['content'])]),
  );
  return jsonList(interactions[0]?.request.body?.['tools']).flatMap(({ function: called }) => {
    if (!isJson(called)) return [];
    const input = isJson(called['parameters']) ? called['parameters'] : {};
    const description = String(called['description'] ?? called['name']);
    return [
      defineTool({
        name: String(called['name']),
        description,
        input,
        execute: (_, { call }) => answers.get(wireIdOf(call)) ?? `no result of ${wireIdOf(call)}`,
      }),
    ];
  });
}

/** Differences between a replayed turn and its recording: requests, final response, usage. */
export function loopDifferences(
  { interactions }: RecordedLoop,
  outcome: Outcome,
  mode: Mode,
): readonly string[] {
  const last = interactions.at(-1);
  if (!last || !outcome.response) return [`failed: ${String(outcome.error)}`];
  const { text } = outcome.response;
  const usages = interactions.map(({ response }) => answerOf(response).usage);
  const sum = (at: 0 | 1): number => usages.reduce((total, usage) => total + (usage?.[at] ?? 0), 0);
  const { usage } = outcome.response;
  return [
    ...unequal('number of requests', outcome.requests.length, interactions.length),
    ...interactions.flatMap(({ request }, at) =>
      loopRequestDifferences(outcome.requests[at], request.body, at, mode),
    ),
    ...interactions
      .slice(1)
      .flatMap((_, at) =>
        echoDifferences(interactions[at]?.response, outcome.requests[at + 1], at + 1),
      ),
    ...unequal('text', text ?? '', answerOf(last.response).choices[0]?.text),
    ...(mode === 'stream' ? unequal('deltas', outcome.deltas, text ?? '') : []),
    ...(usages.every(Boolean)
      ? unequal('usage', usage && [usage.inputTokens, usage.outputTokens], [sum(0), sum(1)])
      : []),
  ];
}

export function loopRequestDifferences(
  sent: Json = {},
  recorded: Json | null,
  at: number,
  mode: Mode,
): readonly string[] {
  const essence = (body: Json | null): unknown =>
    jsonList(body?.['messages']).map((message) => {
      // clients differ in what they send beside calls, and in what they send back of the reasoning; see echoDifferences
      const { echo: _echo, content, calls, ...rest } = essenceOf(message);
      return { ...rest, calls, content: jsonList(calls).length > 0 ? '' : content };
    });
  const names = (body: Json | null): unknown =>
    jsonList(body?.['tools']).map(({ function: called }) =>
      isJson(called) ? called['name'] : undefined,
    );
  return [
    ...unequal(`request ${at}: messages`, essence(sent), essence(recorded)),
    ...unequal(`request ${at}: tools`, names(sent), names(recorded)),
    ...unequal(`request ${at}: stream`, sent['stream'] ?? false, mode === 'stream'),
  ];
}

/**
 * Differences in the fields that the provider needs again, which must be unchanged in the next
 * request.
 */
export function echoDifferences(
  response: RecordedResponse | undefined,
  next: Json = {},
  at: number,
): readonly string[] {
  const body = response?.sse ? inOtherMode(response).body : response?.body;
  const message = isJson(body) ? jsonList(body['choices'])[0]?.['message'] : undefined;
  const echoed = jsonList(next['messages']).findLast(({ role }) => role === 'assistant');
  if (!isJson(message)) return [];
  const has = (value: unknown): boolean =>
    Boolean(value) && !(Array.isArray(value) && value.length === 0);
  const calls = jsonList(message['tool_calls']).filter((call) => has(call['extra_content']));
  return [
    ...ECHOED.filter((name) => has(message[name])).flatMap((name) =>
      unequal(`request ${at}: ${name}`, echoed?.[name], message[name]),
    ),
    ...calls.flatMap((call) =>
      unequal(
        `request ${at}: extra_content`,
        jsonList(echoed?.['tool_calls']).find(({ id }) => id === call['id'])?.['extra_content'],
        call['extra_content'],
      ),
    ),
  ];
}
