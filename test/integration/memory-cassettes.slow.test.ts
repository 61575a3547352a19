import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import {
  AdvisorOrder,
  ChatClient,
  CONVERSATION_ID,
  InMemoryChatMemoryRepository,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  type Message,
} from '../../src/index.js';
import { OpenAIChatModel } from '../../src/models/openai/index.js';
import { inOtherMode } from '../support/body-conversion.js';
import { jsonList, loadCassettes, type Cassette, type Interaction } from '../support/cassettes.js';
import { PlaybackServer } from '../support/playback-server.js';
import { answerOf, errorOf, isCut } from '../support/recorded-answer.js';
import { echoDifferences, loopRequestDifferences, toTools } from '../support/recorded-loop.js';
import { essenceOf, toMessage } from '../support/recorded-request.js';
import { lastOf, modeOf, unequal, type Mode } from '../support/recording-replay.js';

/** The turns of a recorded conversation, each with its iterations. */
type Conversation = readonly (readonly Interaction[])[];

/** Conversations of at least two turns whose requests repeat the previous request and its answer. */
function conversationsOf({ interactions, links }: Cassette): readonly Conversation[] {
  const conversations: Interaction[][][] = [];
  interactions.forEach((interaction, at) => {
    const link = links[at];
    const conversation = conversations.at(-1);
    if (!conversation || !link?.strict || link.kind === 'retry')
      conversations.push([[interaction]]);
    else if (link.kind === 'turn') conversation.push([interaction]);
    else conversation.at(-1)?.push(interaction);
  });
  return conversations.filter((turns) => turns.length > 1 && turns.every(isWhole));
}

function isWhole(turn: readonly Interaction[]): boolean {
  if (turn.some(({ response }) => errorOf(response) || isCut(response))) return false;
  return turn.every(
    ({ response }, at) =>
      (answerOf(response).choices[0]?.calls.length ?? 0) > 0 === at < turn.length - 1,
  );
}

/** Reason why a memory cannot send these requests; undefined if it can. */
function obstacleOf(turns: Conversation): string | undefined {
  const sent = turns.map((turn) => jsonList(turn[0]?.request.body?.['messages']));
  if (sent.some((messages) => messages.at(-1)?.['role'] === 'assistant'))
    return 'a request ends with an assistant message';
  if (sent.some((messages) => messages.findLastIndex(({ role }) => role === 'system') > 0))
    return 'a system message is repeated in the middle';
  const isRewritten = sent.some((messages, at) => {
    const before = sent[at - 1] ?? [];
    return !isDeepStrictEqual(
      messages.slice(0, before.length).map(essenceOf),
      before.map(essenceOf),
    );
  });
  return isRewritten ? 'the client changes earlier messages' : undefined;
}

/** Replays a conversation with a memory in place of the recorded history; returns the differences. */
async function replay(
  server: PlaybackServer,
  turns: Conversation,
  mode: Mode,
  order: number,
): Promise<readonly string[]> {
  const chatMemory = new MessageWindowChatMemory({
    repository: new InMemoryChatMemoryRepository(),
    maxMessages: 1_000,
  });
  const advisor = new MessageChatMemoryAdvisor({ chatMemory, order, storeToolMessages: true });
  const found: string[] = [];
  for (const [at, turn] of turns.entries()) {
    const messages = jsonList(turn[0]?.request.body?.['messages']).map(toMessage);
    const last = messages.findLastIndex(({ role }) => role === 'assistant');
    const system = messages.filter(({ role }) => role === 'system');
    if (at === 0) await chatMemory.add('c', withoutSystem(messages.slice(0, last + 1)));
    const run = server.play(
      turn.map(({ response }) => (modeOf(response) === mode ? response : inOtherMode(response))),
    );
    const body = turn[0]?.request.body ?? {};
    const model = new OpenAIChatModel({
      model: String(body['model']),
      apiKey: 'sk-test',
      baseURL: run.baseURL,
      maxRetries: 0,
    });
    const spec = ChatClient.create(model)
      .prompt()
      .messages(...system, ...withoutSystem(messages.slice(last + 1)))
      .tools(...toTools(turn))
      .advisors(advisor)
      .advisors((a) => a.param(CONVERSATION_ID, 'c'));
    const response =
      mode === 'call' ? await spec.call().chatResponse() : await lastOf(spec.stream().events());
    found.push(
      ...unequal('requests', run.requests.length, turn.length),
      ...turn.flatMap(({ request }, index) =>
        loopRequestDifferences(run.requests[index], request.body, index, mode),
      ),
      ...turn
        .slice(1)
        .flatMap((_, index) =>
          echoDifferences(turn[index]?.response, run.requests[index + 1], index + 1),
        ),
      ...unequal(
        'text',
        response.text ?? '',
        answerOf((turn.at(-1) as Interaction).response).choices[0]?.text,
      ),
    );
  }
  return found;
}

function withoutSystem(messages: readonly Message[]): readonly Message[] {
  return messages.filter(({ role }) => role !== 'system');
}

describe('MessageChatMemoryAdvisor with recorded conversations', function () {
  this.timeout(60_000);
  let server: PlaybackServer;
  let cassettes: readonly Cassette[];

  before(async function () {
    cassettes = loadCassettes(this);
    server = await PlaybackServer.start();
  });
  after(() => server?.close());

  for (const mode of ['call', 'stream'] as const)
    for (const [place, order] of [
      ['outside', AdvisorOrder.MEMORY],
      ['inside', AdvisorOrder.TOOL_CALLING + 1],
    ] as const)
      it(`[F60] [F62] sends the recorded requests from a memory ${place} the tool loop (${mode})`, async () => {
        const found: string[] = [];
        const others: string[] = [];
        let turns = 0;
        let conversations = 0;
        for (const cassette of cassettes)
          for (const conversation of conversationsOf(cassette)) {
            conversations++;
            turns += conversation.length;
            const differences = await replay(server, conversation, mode, order);
            const obstacle = obstacleOf(conversation);
            if (differences.length > 0 && obstacle) others.push(`${cassette.id}: ${obstacle}`);
            else found.push(...differences.map((text) => `${cassette.id}: ${text}`));
          }

        console.log(
          `      ${conversations} conversations, ${turns} turns; ${conversations - others.length} with equal requests; others:`,
        );
        for (const other of others) console.log(`        ${other}`);
        expect(found).to.deep.equal([]);
        expect(conversations - others.length).to.be.at.least(30);
      });
});
