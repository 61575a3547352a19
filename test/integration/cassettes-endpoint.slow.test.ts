import { expect } from 'chai';
import OpenAI from 'openai';
import { serveOpenAI } from '../../src/bridges/serve/index.js';
import { ChatClient } from '../../src/index.js';
import { OpenAIChatModel } from '../../src/models/openai/index.js';
import { inOtherMode } from '../support/body-conversion.js';
import {
  isJson,
  jsonList,
  loadCassettes,
  type Interaction,
  type Json,
} from '../support/cassettes.js';
import { PlaybackServer } from '../support/playback-server.js';
import { answerOf, errorOf, isCut, type RecordedChoice } from '../support/recorded-answer.js';
import { argumentsOf } from '../support/recorded-request.js';
import { modeOf, unequal, type Mode } from '../support/recording-replay.js';

/** Requests of the recordings that the endpoint refuses, by the field that it names. */
const REFUSED =
  /^400 (?:messages\[\d+\](?:\.content\[\d+\]\.type|\.role|\.tool_call_id|: a tool call)|messages: a tool call|tools\[\d+\]\.type|tool_choice|response_format|n:|logprobs|functions|function_call|audio|web_search_options)/;

/** The first choice as the official client has read it. */
type Answer = Pick<RecordedChoice, 'text' | 'refusal' | 'calls' | 'finishReason'>;

describe('recorded conversations through an OpenAI endpoint', function () {
  this.timeout(240_000);
  let server: PlaybackServer;
  before(async () => {
    server = await PlaybackServer.start();
  });
  after(() => server.close());

  /** Sends the recorded request to an endpoint whose model gives the recorded answer. */
  async function ask({ request, response }: Interaction, mode: Mode): Promise<Answer> {
    const run = server.play([modeOf(response) === mode ? response : inOtherMode(response)]);
    const model = new OpenAIChatModel({ apiKey: 'sk-test', baseURL: run.baseURL, maxRetries: 0 });
    const answer = serveOpenAI({ clients: ChatClient.create(model), authorize: () => true });
    const openai = new OpenAI({
      baseURL: 'http://localhost/v1',
      apiKey: 'sk-test',
      maxRetries: 0,
      fetch: (url, init) => answer(new Request(url, init)),
    });
    // recordings of Azure have the model in their path
    const body = { model: 'recorded', ...request.body, stream: mode === 'stream' };
    return mode === 'stream' ? foldOf(openai, body) : wholeOf(openai, body);
  }

  for (const mode of ['call', 'stream'] as const)
    it(`give the recorded answers by ${mode}`, async function () {
      const counts = { answers: 0, errors: 0, refused: 0 };
      const found: string[] = [];
      const refusals = new Map<string, number>();
      for (const cassette of loadCassettes(this))
        for (const [at, interaction] of cassette.interactions.entries()) {
          if (!interaction.request.body) continue;
          const note = (texts: readonly string[]): void =>
            void found.push(...texts.map((text) => `${cassette.id}#${at}: ${text}`));
          const outcome = await ask(interaction, mode).catch((error: unknown) =>
            String(errorText(error)),
          );
          if (typeof outcome !== 'string') {
            counts.answers++;
            note(differences(interaction, outcome));
          } else if (REFUSED.test(outcome)) {
            counts.refused++;
            const reason = outcome.replaceAll(/\d+(?=\])/g, 'n').slice(0, 90);
            refusals.set(reason, (refusals.get(reason) ?? 0) + 1);
          } else {
            counts.errors++;
            if (!isFailure(interaction) && !asksForUnknown(interaction)) note([outcome]);
          }
        }
      console.log(`      ${JSON.stringify(counts)}`);
      for (const [reason, count] of refusals) console.log(`      ${count} refused: ${reason}`);
      expect(found).to.deep.equal([]);
      expect(counts.answers).to.be.greaterThan(300);
    });
});

function isFailure({ response }: Interaction): boolean {
  return (
    errorOf(response) !== undefined || isCut(response) || answerOf(response).choices.length === 0
  );
}

/** A model that calls a tool that it was not offered is asked again, which is not recorded. */
function asksForUnknown({ request, response }: Interaction): boolean {
  const offered = jsonList(request.body?.['tools']).map(({ function: called }) =>
    isJson(called) ? called['name'] : undefined,
  );
  return answerOf(response).choices.some(({ calls }) =>
    calls.some(({ name }) => !offered.includes(name)),
  );
}

function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function wholeOf(openai: OpenAI, body: Json): Promise<Answer> {
  const completion = await openai.chat.completions.create(
    body as never as OpenAI.ChatCompletionCreateParamsNonStreaming,
  );
  const [choice] = completion.choices;
  if (!choice) throw new Error('no choice');
  const calls = (choice.message.tool_calls ?? []).flatMap((call) =>
    call.type === 'function' ? [{ id: call.id, ...call.function }] : [],
  );
  const { content, refusal } = choice.message;
  return { text: content ?? '', refusal: refusal ?? '', calls, finishReason: choice.finish_reason };
}

async function foldOf(openai: OpenAI, body: Json): Promise<Answer> {
  const stream = await openai.chat.completions.create(
    body as never as OpenAI.ChatCompletionCreateParamsStreaming,
  );
  const answer = { text: '', refusal: '', finishReason: undefined as string | undefined };
  const calls: { id: string; name: string; arguments: string }[] = [];
  for await (const { choices } of stream) {
    const [choice] = choices;
    answer.text += choice?.delta.content ?? '';
    answer.refusal += choice?.delta.refusal ?? '';
    answer.finishReason = choice?.finish_reason ?? answer.finishReason;
    for (const { id = '', function: called } of choice?.delta.tool_calls ?? [])
      calls.push({ id, name: called?.name ?? '', arguments: called?.arguments ?? '' });
  }
  return { ...answer, calls };
}

function differences({ response }: Interaction, answer: Answer): readonly string[] {
  if (isFailure({ request: { body: null }, response })) return ['an answer in place of an error'];
  const choice = answerOf(response).choices[0] as RecordedChoice;
  const essence = ({ name, arguments: text }: { name: string; arguments: string }): unknown => [
    name,
    argumentsOf(text),
  ];
  return [
    ...unequal('text', answer.text, choice.text),
    ...unequal('refusal', answer.refusal, choice.refusal),
    ...unequal('calls', answer.calls.map(essence), choice.calls.map(essence)),
    ...(choice.calls.length > 0
      ? unequal('finish reason', answer.finishReason, 'tool_calls')
      : unequal('finish reason', answer.finishReason, known(choice.finishReason))),
  ];
}

function known(reason = 'stop'): string {
  return reason === 'length' || reason === 'content_filter' ? reason : 'stop';
}
