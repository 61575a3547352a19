import { expect } from 'chai';
import {
  ChatClient,
  CONVERSATION_ID,
  defineAdvisor,
  defineTool,
  InMemoryChatMemoryRepository,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  AdvisorOrder,
  ModelCallError,
  RetryAdvisor,
  SteeringAdvisor,
  SteeringInbox,
  textOf,
  ToolCallingAdvisor,
  type Message,
  type SteeringMode,
  type SteeringOutcome,
} from '../../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../../src/testing/index.js';
import { invalidReason } from '../../support/conversation.js';
import { failureOf, MODES, runSpec, type Mode } from '../../support/modes.js';
import { Random } from '../../support/random.js';
import { sweep } from '../../support/sweep.js';

const SENDS: readonly SteeringMode[] = ['steer', 'steer', 'interrupt', 'queue'];
const MAX_SENDS = 6;

interface Sent {
  readonly text: string;
  readonly mode: SteeringMode;
  readonly outcome: Promise<SteeringOutcome>;
}

/** A turn whose user sends messages at random moments: of the model, of tools and of the stream. */
async function randomTurn(mode: Mode, seed: number) {
  const random = new Random(seed);
  const inbox = new SteeringInbox();
  const sent: Sent[] = [];
  const maySend = (probability: number): void => {
    if (sent.length >= MAX_SENDS || !random.chance(probability)) return;
    const [text, chosen] = [`m${sent.length}`, random.pick(SENDS)];
    sent.push({ text, mode: chosen, outcome: inbox.send(text, { mode: chosen }) });
  };
  const turns = (count: number): Promise<void> =>
    count === 0
      ? Promise.resolve()
      : new Promise((resolve) => setImmediate(() => resolve(turns(count - 1))));
  const work = defineTool({
    name: 'work',
    input: { type: 'object', properties: { id: { type: 'integer' } } },
    execute: async ({ id }) => {
      maySend(0.2);
      await turns(random.below(3));
      maySend(0.2);
      return `result ${String(id)}`;
    },
  });
  let calls = 0;
  const model = new ScriptedChatModel((_prompt, index): ScriptedAnswer => {
    maySend(0.3);
    if (random.chance(0.1)) return new ModelCallError('busy', { retryable: true });
    const count = index < 12 && random.chance(0.6) ? 1 + random.below(3) : 0;
    const toolCalls = Array.from({ length: count }, () => ({
      id: `c${calls}`,
      name: 'work',
      arguments: { id: calls++ },
    }));
    return { text: `answer ${index}`, toolCalls };
  });
  const chance = defineAdvisor({
    name: 'chance',
    order: random.pick([AdvisorOrder.LOGGER, AdvisorOrder.GUARD, AdvisorOrder.STEERING - 1]),
    onEvent: () => maySend(0.1),
  });
  const isInside = random.chance(0.3);
  const repository = new InMemoryChatMemoryRepository();
  const memory = new MessageChatMemoryAdvisor({
    chatMemory: new MessageWindowChatMemory({ repository, maxMessages: 1_000 }),
    storeToolMessages: isInside || random.chance(0.5),
    ...(isInside && { order: AdvisorOrder.TOOL_CALLING + 1 }),
  });
  const maxRetries = 20;
  const order = random.pick([AdvisorOrder.RESILIENCE, AdvisorOrder.TOOL_CALLING + 50]);
  const spec = ChatClient.create(model)
    .prompt('q')
    .tools(work)
    .advisors(
      memory,
      chance,
      new RetryAdvisor({ maxRetries, firstDelay: 0, order }),
      new ToolCallingAdvisor({ keepHistory: !isInside }),
      new SteeringAdvisor({ inbox }),
      (a) => a.param(CONVERSATION_ID, 'c'),
    );
  const response = await runSpec(mode, spec);
  const stored = (await repository.read('c')).messages.map(({ message }) => message);
  return { sent, inbox, model, response, stored };
}

const userTexts = (messages: readonly Message[]): readonly string[] =>
  messages.flatMap((message) => (message.role === 'user' ? textOf(message.content) : []));

async function check(mode: Mode, seed: number): Promise<void> {
  const { sent, inbox, model, response, stored } = await randomTurn(mode, seed);
  const outcomes = await Promise.all(sent.map(({ outcome }) => outcome));
  const textsOf = (status: SteeringOutcome['status']): readonly string[] =>
    sent.flatMap(({ text }, at) => (outcomes[at]?.status === status ? text : []));

  expect(textsOf('rejected')).to.deep.equal([]);
  expect(textsOf('delivered')).to.deep.equal(
    sent.flatMap(({ text, mode: given }) =>
      given !== 'queue' && !textsOf('deferred').includes(text) ? text : [],
    ),
  );
  // each message once, in the order of sending, in the memory or back in the inbox
  expect(userTexts(stored)).to.deep.equal(['q', ...textsOf('delivered')]);
  expect(userTexts(inbox.takeDeferred()).toSorted()).to.deep.equal(textsOf('deferred'));
  expect(invalidReason(stored)).to.equal(undefined);
  for (const prompt of model.prompts) {
    expect(invalidReason(prompt.messages)).to.equal(undefined);
    expect(new Set(userTexts(prompt.messages)).size).to.equal(userTexts(prompt.messages).length);
  }
  expect(userTexts(model.prompts.at(-1)?.messages ?? [])).to.deep.equal(userTexts(stored));
  expect(response.text).to.equal(`answer ${model.prompts.length - 1}`);
}

describe('SteeringAdvisor with random messages', () => {
  for (const mode of MODES)
    it(`${mode}: delivers each message once, at a place that providers take, or hands it back`, async () => {
      for (let seed = 1; seed <= sweep(2_000); seed++) {
        const failure = await failureOf(check(mode, seed));
        if (failure) throw new Error(`seed ${seed}`, { cause: failure });
      }
    });
});
