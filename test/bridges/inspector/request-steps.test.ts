import { expect } from 'chai';
import {
  ChatClient,
  CompactionAdvisor,
  CONVERSATION_ID,
  defineAdvisor,
  defineTool,
  FallbackAdvisor,
  GuardAdvisor,
  InMemoryChatMemoryRepository,
  MessageChatMemoryAdvisor,
  ModelCallError,
  piiRule,
  RetrievalAdvisor,
  SteeringAdvisor,
  SteeringInbox,
  SummarizingChatMemory,
  type Advisor,
  type Message,
  type PromptSpec,
} from '../../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../../src/testing/index.js';
import type { InspectedTurn } from '../../../src/bridges/inspector/index.js';
import { changesOf, latestTurn, newInspector, stepsOf } from '../../support/inspected-turns.js';
import { MODES, runSpec, type Mode } from '../../support/modes.js';

const look = defineTool({ name: 'look', execute: () => 'seen' });
const hide = defineTool({ name: 'hide', execute: () => 'hidden' });
const CALL: ScriptedAnswer = { toolCalls: [{ name: 'look', id: 'a' }] };
const INSIDE = 6_500;

/** Runs a turn with an advisor, and reads how the inspector shows it. */
async function inspect(
  mode: Mode,
  advisors: readonly Advisor[],
  script: readonly ScriptedAnswer[] = ['Done.'],
  change: (spec: PromptSpec) => PromptSpec = (spec) => spec,
): Promise<InspectedTurn> {
  const inspector = newInspector();
  const spec = ChatClient.create(new ScriptedChatModel(script))
    .prompt()
    .system('Be brief.')
    .user('Continue, anna@example.com.')
    .tools(look, hide)
    .advisors(inspector, ...advisors);
  await runSpec(mode, change(spec));
  return latestTurn(inspector);
}

describe('the changes of a request', () => {
  for (const mode of MODES) {
    it(`[1] name the advisor of an added message (${mode})`, async () => {
      const advisor = defineAdvisor({
        name: 'adder',
        order: INSIDE,
        before: (request) =>
          request.withMessages([...request.prompt.messages, { role: 'user', content: 'Please.' }]),
      });

      const turn = await inspect(mode, [advisor], [CALL, 'Done.']);

      expect(stepsOf(turn)).to.deep.equal(['adder: message-added 2 user Please.']);
      expect(changesOf(turn, 1)).to.deep.equal([
        'tool-calling: message-added 2 assistant',
        'tool-calling: message-added 3 tool seen',
      ]);
    });

    it(`[2] name the advisor of a removed tool (${mode})`, async () => {
      const advisor = defineAdvisor({
        name: 'remover',
        order: INSIDE,
        before: (request) =>
          request.iteration === 0
            ? request
            : request.withTools(request.tools.filter((tool) => tool !== hide)),
      });

      const turn = await inspect(mode, [advisor], [CALL, 'Done.']);

      expect(stepsOf(turn)).to.deep.equal([]);
      expect(stepsOf(turn, 1)).to.include('remover: tool-removed hide');
      expect(changesOf(turn, 1)).to.include('remover: tool-removed hide');
      expect(turn.requests.map(({ tools }) => tools.map(({ name }) => name))).to.deep.equal([
        ['look', 'hide'],
        ['look'],
      ]);
    });

    it(`[3] name the advisor of a changed option (${mode})`, async () => {
      const advisor = defineAdvisor({
        name: 'cooler',
        order: INSIDE,
        before: (request) => request.withOptions({ temperature: request.iteration / 10 }),
      });
      const change = (spec: PromptSpec): PromptSpec => spec.options({ temperature: 1 });

      const turn = await inspect(mode, [advisor], [CALL, 'Done.'], change);

      expect(stepsOf(turn)).to.deep.equal(['cooler: option-changed temperature 1 -> 0']);
      expect(changesOf(turn, 1)).to.include('cooler: option-changed temperature 0 -> 0.1');
      expect(turn.requests.map(({ options }) => options['temperature'])).to.deep.equal([0, 0.1]);
    });

    it(`[4] name the compaction (${mode})`, async () => {
      const page = defineTool({ name: 'page', execute: () => 'word '.repeat(400) });
      const calls = [0, 1, 2].map((at) => ({ toolCalls: [{ name: 'page', id: `p${at}` }] }));
      const compaction = new CompactionAdvisor({ maxTokens: 900, clearTo: 0.5, keepIterations: 1 });

      const turn = await inspect(mode, [compaction], [...calls, 'Done.'], (spec) =>
        spec.tools(page),
      );

      const last = turn.requests.length - 1;
      const changed = changesOf(turn, last)?.filter((each) => each.startsWith('compaction: '));
      expect(changed).to.have.length.greaterThan(0);
      expect(changed?.every((each) => /message-(changed|removed|added)/.test(each))).to.equal(true);
      const others = changesOf(turn, last)?.filter((each) => !each.startsWith('compaction: '));
      expect(others?.map((each) => each.replace(/ \d.*/s, ''))).to.deep.equal([
        'tool-calling: message-added',
      ]);
    });

    it(`[5] name the guard of a mask (${mode})`, async () => {
      const guard = new GuardAdvisor({ input: [{ rules: piiRule(), action: 'redact' }] });

      const turn = await inspect(mode, [guard]);

      expect(stepsOf(turn)).to.deep.equal([
        `${guard.name}: message-changed 1 Continue, anna@example.com. -> Continue, [email].`,
      ]);
    });

    it(`[6] name the fallback of another model (${mode})`, async () => {
      const spare = new ScriptedChatModel(['Done.'], { model: 'spare' });
      const fallback = new FallbackAdvisor({ models: [spare] });
      const failure = new ModelCallError('down', { status: 503, retryable: true });

      const turn = await inspect(mode, [fallback], [failure]);

      expect(stepsOf(turn, 1)).to.deep.equal(['fallback: model-changed scripted -> spare']);
      expect(changesOf(turn, 1)).to.deep.equal(['fallback: model-changed scripted -> spare']);
    });

    it(`[7] name the retrieval of a document (${mode})`, async () => {
      const retriever = {
        retrieve: () => Promise.resolve([{ id: 'd', text: 'Ulm is in Germany.', metadata: {} }]),
      };
      const retrieval = new RetrievalAdvisor({ retriever, scope: () => 'x' } as never);

      const turn = await inspect(mode, [retrieval]);

      const [step] = stepsOf(turn);
      expect(step).to.match(/^retrieval: message-added 1 user .*Ulm is in Germany\./s);
      expect(stepsOf(turn)).to.have.length(1);
    });

    it(`[8] name the steering of a message (${mode})`, async () => {
      const inbox = new SteeringInbox();
      const send = defineTool({
        name: 'send',
        execute: () => {
          void inbox.send('In Ulm, please.');
          return 'sent';
        },
      });
      const script = [
        { toolCalls: [{ name: 'send', id: 's' }] },
        { toolCalls: [{ name: 'look', id: 'l' }] },
        'Done.',
      ];

      const turn = await inspect(mode, [new SteeringAdvisor({ inbox })], script, (spec) =>
        spec.tools(send),
      );

      expect(changesOf(turn, 1)?.at(-1)).to.equal('steering: message-added 4 user In Ulm, please.');
      // the loop continues with it
      expect(stepsOf(turn, 2)).to.include('steering: message-added 4 user In Ulm, please.');
      expect(changesOf(turn, 2)).to.deep.equal([
        'tool-calling: message-added 5 assistant',
        'tool-calling: message-added 6 tool seen',
      ]);
    });

    it(`[9] name the memory of a summary (${mode})`, async () => {
      const repository = new InMemoryChatMemoryRepository();
      const model = new ScriptedChatModel(['Anna is in Ulm.']);
      const chatMemory = new SummarizingChatMemory({ repository, model, maxMessages: 2 });
      const turns = ['a', 'b', 'c'].flatMap((text) => [
        { role: 'user', content: text } as const,
        { role: 'assistant', content: text } as const,
      ]);
      await repository.append('c', turns);
      const memory = new MessageChatMemoryAdvisor({ chatMemory });
      const change = (spec: PromptSpec): PromptSpec =>
        spec.advisors((advisors) => advisors.param(CONVERSATION_ID, 'c'));
      await inspect(mode, [memory], ['Done.'], change);
      await new Promise((resolve) => setTimeout(resolve, 20));

      const turn = await inspect(mode, [memory], ['Done.'], change);

      expect(
        stepsOf(turn).every((each) => each.startsWith(`${memory.name}: message-added`)),
      ).to.equal(true);
      expect(stepsOf(turn).some((each) => each.includes('Anna is in Ulm.'))).to.equal(true);
    });

    it(`[10] name the advisor of another system text (${mode})`, async () => {
      const advisor = defineAdvisor({
        name: 'tone',
        order: INSIDE,
        before: (request) =>
          request.withPrompt(request.prompt.augmentSystemMessage((text) => `${text} Be kind.`)),
      });

      const turn = await inspect(mode, [advisor]);

      expect(stepsOf(turn)).to.deep.equal([
        'tone: message-changed 0 Be brief. -> Be brief. Be kind.',
      ]);
    });
  }

  it('name the loop of a message that it adds in place of the view of an advisor', async () => {
    const shortener = defineAdvisor({
      name: 'shortener',
      order: INSIDE,
      before: (request) =>
        request.withMessages(
          request.prompt.messages.map((message) =>
            message.role === 'tool' ? { ...message, content: 'short' } : message,
          ),
        ),
    });

    const turn = await inspect('call', [shortener], [CALL, CALL, 'Done.']);

    expect(stepsOf(turn, 2).map((each) => each.replace(/ \d/, ''))).to.deep.equal([
      'tool-calling: message-added assistant',
      'tool-calling: message-added tool seen',
      'tool-calling: message-added assistant',
      'tool-calling: message-added tool seen',
      'shortener: message-changed seen -> short',
      'shortener: message-changed seen -> short',
    ]);
  });

  it('are none for a copy of a message with its fields in another order', async () => {
    const copies = defineAdvisor({
      name: 'copies',
      order: INSIDE,
      before: (request) =>
        request.withMessages(
          request.prompt.messages.map(
            (message) =>
              Object.fromEntries(Object.entries(message).toReversed()) as unknown as Message,
          ),
        ),
    });

    const turn = await inspect('call', [copies], [CALL, 'Done.']);

    expect(stepsOf(turn)).to.deep.equal([]);
    expect(stepsOf(turn, 1).every((each) => each.startsWith('tool-calling: '))).to.equal(true);
  });

  it('are none for ids of calls, which the model gets as it has given them', async () => {
    const counted = { toolCalls: [{ name: 'look', id: 'call_1' }] };

    const turn = await inspect('call', [], [counted, 'Done.']);

    const [, request] = turn.requests;
    expect(JSON.stringify(request?.messages)).to.include('"call_1"');
    expect(stepsOf(turn, 1).filter((each) => each.startsWith('model: '))).to.deep.equal([]);
  });

  it('of what a model call adds to the request name the model', async () => {
    const inspector = newInspector();
    const schema = { type: 'object', properties: { n: { type: 'integer' } } } as const;
    const client = ChatClient.create(new ScriptedChatModel(['{"n":1}']));

    await client
      .prompt('Number?')
      .advisors(inspector)
      .call()
      .entity(schema as never);

    const [step] = stepsOf(latestTurn(inspector));
    expect(step).to.match(/^model: message-changed 0 Number\? -> /);
  });
});
