import { expect } from 'chai';
import {
  ApprovalAdvisor,
  AdvisorOrder,
  type ChatClientResponse,
  type PromptSpec,
  InMemoryKeyValueStore,
  type CancelledError,
  ChatClient,
  defineTool,
  DurableAdvisor,
  InMemoryDurableEngine,
  GuardAdvisor,
  InMemoryChatMemoryRepository,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  ModelCallError,
  RetryAdvisor,
  wordRule,
  type Advisor,
  type MessageChatMemoryAdvisorOptions,
} from '../../../src/index.js';
import { ScriptedChatModel, type Script } from '../../../src/testing/index.js';
import { inConversation } from '../../support/memory-advisor.js';
import { failureOf, MODES, runSpec, type Mode } from '../../support/modes.js';
import { decideAll, SECRET } from '../../support/paused-turns.js';
import { shownHistory, StreamPage } from '../../support/shown-turns.js';

const look = defineTool({
  name: 'look',
  input: { type: 'object', properties: { at: { type: 'string' } } },
  execute: ({ at }) => `seen ${String(at)}`,
});
const calls = [
  { id: 'c1', name: 'look', arguments: { at: 'home' } },
  { id: 'c2', name: 'look', arguments: { at: 'work' } },
];
const down = new ModelCallError('down', { status: 503, retryable: true });

/** Turns by what happens in them. */
const TURNS: Readonly<Record<string, Script>> = {
  'is answered': ['Rome.'],
  'calls tools': [{ text: 'I look.', toolCalls: calls }, { toolCalls: [calls[0]!] }, 'At home.'],
  'calls a tool that does not exist': [{ toolCalls: [{ name: 'made_up' }] }, 'I cannot.'],
  'retries in the middle of a text': [
    { deltas: ['Ro', 'ad'], error: down },
    { text: 'I look.', toolCalls: calls },
    { deltas: ['Half'], error: down },
    'At home.',
  ],
  'has a word that a guard masks': ['The secret is out.'],
};
const FAILING: Readonly<Record<string, Script>> = {
  'fails in its text': [{ deltas: ['Half of ', 'it'], error: new Error('broken') }],
  'fails in its text after a tool': [
    { text: 'I look.', toolCalls: calls },
    { deltas: ['At '], error: new Error('broken') },
  ],
};

/** Places of a memory that stores what a stream shows. */
const MEMORIES: Readonly<Record<string, Partial<MessageChatMemoryAdvisorOptions>>> = {
  'outside the loop': { storeToolMessages: true, order: AdvisorOrder.MEMORY },
  'inside the loop': { order: AdvisorOrder.TOOL_CALLING + 1 },
};

function setUp(
  script: Script,
  options: Partial<MessageChatMemoryAdvisorOptions>,
  ...others: readonly Advisor[]
) {
  const chatMemory = new MessageWindowChatMemory({
    repository: new InMemoryChatMemoryRepository(),
  });
  const advisors: readonly Advisor[] = [
    new MessageChatMemoryAdvisor({ chatMemory, onIncomplete: 'keep-partial', ...options }),
    new RetryAdvisor({ firstDelay: 1 }),
    new GuardAdvisor({ output: [{ rules: wordRule({ words: ['secret'] }), action: 'redact' }] }),
    ...others,
  ];
  const client = ChatClient.builder(new ScriptedChatModel(script))
    .defaultSystem('Rules.')
    .defaultTools(look)
    .defaultAdvisors(...advisors)
    .build();
  return { chatMemory, client, spec: inConversation(client.prompt('Where?')) };
}

describe('history after a stream', () => {
  for (const [place, options] of Object.entries(MEMORIES))
    for (const [name, script] of Object.entries({ ...TURNS, ...FAILING }))
      it(`shows what the events have shown of a turn that ${name}, with a memory ${place}`, async () => {
        const streamed = setUp(script, options);
        const called = setUp(script, options);
        const page = new StreamPage('Where?');

        const error = await failureOf(
          streamed.spec
            .stream()
            .events()
            .forEach((event) => page.add(event)),
        );
        await failureOf(called.spec.call().content());

        const after = await streamed.chatMemory.history('c');
        expect(shownHistory(after.messages)).to.deep.equal(page.messages);
        expect(after.messages.at(-1)?.isIncomplete).to.equal(name in FAILING);
        expect(error !== undefined).to.equal(name in FAILING);
        const ofCall = await called.chatMemory.history('c');
        if (!(name in FAILING)) expect(shownHistory(ofCall.messages)).to.deep.equal(page.messages);
      });

  for (const [place, options] of Object.entries(MEMORIES))
    it(`shows the text of a turn that was cancelled, with a memory ${place}`, async () => {
      const controller = new AbortController();
      const script = [{ text: 'I look.', toolCalls: calls }, { deltas: ['At ', 'home.'] }];
      const { chatMemory, spec } = setUp(script, options);
      const page = new StreamPage('Where?');

      const error = await failureOf(
        spec
          .signal(controller.signal)
          .stream()
          .events()
          .forEach((event) => {
            page.add(event);
            if (event.type === 'text-delta' && event.text === 'At ') controller.abort();
          }),
      );
      await (error as CancelledError).run?.settled;

      const { messages } = await chatMemory.history('c');
      expect(shownHistory(messages)).to.deep.equal(page.messages);
      expect(page.messages.at(-1)).to.have.property('text', 'At ');
      expect(messages.at(-1)?.isIncomplete).to.equal(true);
    });

  for (const [place, options] of Object.entries(MEMORIES))
    it(`shows a durable turn once, also after it was replayed, with a memory ${place}`, async () => {
      const script = [{ text: 'I look.', toolCalls: calls }, 'At home.'];
      const engine = new InMemoryDurableEngine();
      const durable = (): Advisor =>
        new DurableAdvisor({ engine: new InMemoryDurableEngine(engine.entries()) });
      const { chatMemory, spec } = setUp(script, options);
      const turn = spec.turnId('turn-1');
      const [page, replayed] = [new StreamPage('Where?'), new StreamPage('Where?')];
      await shownOn(page, turn.advisors(new DurableAdvisor({ engine })), 'stream');
      const first = await chatMemory.history('c');

      await shownOn(replayed, turn.advisors(durable()), 'stream');

      const { messages } = await chatMemory.history('c');
      expect(shownHistory(messages)).to.deep.equal(page.messages);
      expect(replayed.messages).to.deep.equal(page.messages);
      expect(messages).to.deep.equal(first.messages);
    });

  /** Also a memory that stores no calls: of a paused turn nothing is stored yet. */
  const PAUSED = { ...MEMORIES, 'outside the loop, without calls': {} };
  for (const [place, options] of Object.entries(PAUSED))
    for (const mode of MODES)
      it(`shows a paused turn with its requests, and then the answered one, with a memory ${place} (${mode})`, async () => {
        const script = ['Before.', { text: 'A secret: I look.', toolCalls: calls }, 'Done.'];
        const { chatMemory, spec, client } = setUp(script, options, approval());
        await runSpec(mode, spec);
        const page = new StreamPage('Where?');
        const response = await shownOn(page, spec, mode);

        const pending = await client.pending('c');
        const paused = await chatMemory.history('c', { pending });
        const earlier = await chatMemory.history('c', { pending, limit: 1, before: 2 });
        const after = new StreamPage('Where?');
        const resumed = client.resume(pending[0]?.id ?? '', decideAll(response));
        const end = await shownOn(after, resumed, mode);
        await end.run?.settled;
        const answered = await chatMemory.history('c', { pending: await client.pending('c') });

        const shown = shownHistory(paused.messages);
        expect(shown.slice(0, 2).map(({ text }) => text)).to.deep.equal(['Where?', 'Before.']);
        if (mode === 'stream') expect(shown.slice(2)).to.deep.equal(page.messages);
        expect(shown.at(-1)?.calls).to.deep.equal([
          ['look', '{"at":"home"}', undefined],
          ['look', '{"at":"work"}', undefined],
        ]);
        expect(shown.at(-1)?.text).to.match(/^A \[.*\]: I look\.$/);
        expect(paused.messages.slice(0, -1).some((each) => each.paused)).to.equal(false);
        const { id, requests } = response.paused ?? {};
        expect(paused.messages.at(-1)?.paused).to.deep.equal({ id, requests });
        expect(shownHistory(earlier.messages)).to.deep.equal([{ role: 'user', text: 'Where?', calls: [] }]); // prettier-ignore
        const stored = shownHistory(answered.messages).slice(2);
        const isWhole = place in MEMORIES;
        if (mode === 'stream' && isWhole) expect(stored).to.deep.equal(after.messages);
        expect(stored.length).to.equal(isWhole ? 3 : 2);
        expect(answered.messages.some((each) => each.paused)).to.equal(false);
      });

  it('shows a turn that failed after it was resumed once, as waiting', async () => {
    for (const options of Object.values(PAUSED)) {
      const broken = { deltas: ['Half'], error: new Error('broken') };
      const script = [{ text: 'I look.', toolCalls: calls }, broken];
      const { chatMemory, spec, client } = setUp(script, options, approval());
      const response = await spec.call().chatResponse();
      const resumed = client.resume(response.paused?.id ?? '', decideAll(response));
      await failureOf(resumed.call().content());

      const { messages } = await chatMemory.history('c', { pending: await client.pending('c') });

      expect(shownHistory(messages)).to.deep.equal([
        { role: 'user', text: 'Where?', calls: [] },
        {
          role: 'assistant',
          text: 'I look.',
          calls: [
            ['look', '{"at":"home"}', 'seen home'],
            ['look', '{"at":"work"}', 'seen work'],
          ],
        },
      ]);
      expect(messages.at(-1)?.paused?.requests).to.deep.equal([]);
    }
  });
});

const approval = (): Advisor =>
  new ApprovalAdvisor({
    policy: { look: 'ask' },
    pause: { secrets: SECRET, store: new InMemoryKeyValueStore() },
  });

/** The answer of a turn, whose events a page shows if it is a stream. */
async function shownOn(
  page: StreamPage,
  spec: PromptSpec,
  mode: Mode,
): Promise<ChatClientResponse> {
  if (mode === 'call') return spec.call().chatClientResponse();
  const stream = spec.stream();
  await stream.events().forEach((event) => page.add(event));
  return stream.finalResponse();
}
