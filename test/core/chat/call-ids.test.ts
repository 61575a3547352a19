import { expect } from 'chai';
import {
  AdvisorOrder,
  ChatClient,
  ChatResponse,
  CONVERSATION_ID,
  defineTool,
  InMemoryChatMemoryRepository,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  Prompt,
  type AssistantMessage,
  type ChatEvent,
  type ChatModel,
  type Message,
  type ToolCall,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { CallIds } from '../../../src/core/chat/call-ids.js';
import { toSentPrompt } from '../../../src/core/chat/sent-prompt.js';
import { TurnId } from '../../../src/core/chat/context.js';
import { MODES, runSpec } from '../../support/modes.js';

const call = (id: string, name = 'look'): ToolCall => ({ id, name, arguments: '{}' });
const asking = (...toolCalls: readonly ToolCall[]): AssistantMessage => ({
  role: 'assistant',
  content: null,
  toolCalls,
});
const resultOf = (id: string, toolName = 'look'): Message => ({
  role: 'tool',
  toolCallId: id,
  toolName,
  content: 'seen',
});
const answerOf = (...toolCalls: readonly ToolCall[]): ChatResponse =>
  new ChatResponse({ generations: [{ message: asking(...toolCalls) }] });

/** The calls of an answer in the first iteration of the turn `t`. */
function callsOf(
  given: readonly ToolCall[],
  earlier: readonly Message[] = [],
  turnId = 't',
): readonly ToolCall[] {
  const prompt = new Prompt([{ role: 'user', content: 'q' }, ...earlier]);
  const ids = new CallIds({ turn: new TurnId(turnId), iteration: 0, prompt });
  return ids.ofResponse(answerOf(...given)).message.toolCalls ?? [];
}

const LEGAL_ID = /^[a-zA-Z0-9]{9}$/;

describe('CallIds', () => {
  it('[D71] leaves an answer unchanged whose ids are unique and legal', () => {
    const answer = answerOf(call('toolu_01AbC'), call('a'), call('i'.repeat(64)), call('a.b:c-0'));
    const place = { turn: new TurnId('t'), iteration: 0, prompt: new Prompt('q') };

    expect(new CallIds(place).ofResponse(answer)).to.equal(answer);
  });

  for (const counter of [
    'call_1',
    '0',
    'tool_call-12',
    'toolCall1',
    'call_1_2',
    'fc_0',
    'functions.look:0',
  ])
    it(`[D79] replaces the counter ${counter}, and keeps it beside`, () => {
      const [given] = callsOf([call(counter)]);

      expect(given?.id).to.match(LEGAL_ID);
      expect(given?.wireId).to.equal(counter);
    });

  for (const given of ['i'.repeat(65), 'functions.look:0 ü', 'a b'])
    it(`[D71] gives a call a legal id in place of ${given}, and keeps it beside`, () => {
      const [named] = callsOf([call(given)]);

      expect(named?.id).to.match(LEGAL_ID);
      expect(named?.wireId).to.equal(given);
    });

  it('[D71] gives calls of one id, known ids and missing ids new ones, the same again', () => {
    const earlier = [asking(call('known')), resultOf('known')];
    const given = [call('x'), call('x'), call('known'), call(''), call('null')];

    const calls = callsOf(given, earlier);

    expect(calls[0]).to.equal(calls[0]);
    expect(calls.map(({ wireId }) => wireId)).to.deep.equal([
      undefined,
      'x',
      'known',
      'call_5',
      'call_6',
    ]);
    expect(new Set(['known', ...calls.map(({ id }) => id)]).size).to.equal(6);
    expect(callsOf(given, earlier)).to.deep.equal(calls);
  });

  it('[D79] gives the same counter another id in each turn, whatever the model has got', () => {
    const ids = ['t', 'u', 'v'].map((turn) => callsOf([call('call_1')], [], turn)[0]?.id);

    expect(new Set(ids).size).to.equal(3);
  });

  it('[D71] gives pieces the ids of the answer', () => {
    const ids = new CallIds({ turn: new TurnId('t'), iteration: 0, prompt: new Prompt('q') });
    const piece = (index: number, id?: string) =>
      ids.ofDelta({
        type: 'tool-call-delta',
        index,
        ...(id !== undefined && { id }),
        arguments: '',
      });
    const given = ['call_1', 'call_1', 'own', ''];

    const pieces = given.map((id, index) => piece(index, id).id);
    const answered = ids.ofResponse(answerOf(...given.map((id) => call(id)))).message.toolCalls;

    expect(pieces).to.deep.equal(answered?.map(({ id }) => id));
    expect(piece(0, 'call_1').id).to.equal(pieces[0]);
    expect(piece(0)).to.not.have.property('id');
  });
});

describe('toSentPrompt', () => {
  const LEGAL_NAME = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;

  it('sends a conversation unchanged whose ids and names are legal', () => {
    const prompt = new Prompt([asking(call('a')), resultOf('a')]);

    expect(toSentPrompt(prompt)).to.equal(prompt);
  });

  it('[D79] sends the id that the model knows once, in the call and in its result', () => {
    const known = { ...call('id1'), wireId: 'call_1' };
    const again = { ...call('id2'), wireId: 'call_1' };
    const prompt = new Prompt([asking(known), resultOf('id1'), asking(again), resultOf('id2')]);

    const { messages } = toSentPrompt(prompt);

    expect(messages).to.deep.equal([
      asking(call('call_1')),
      resultOf('call_1'),
      asking(again),
      resultOf('id2'),
    ]);
  });

  it('[D71] sends no id that is longer than APIs accept', () => {
    const sentOf = (wireId: string): Message | undefined =>
      toSentPrompt(new Prompt([asking({ ...call('id1'), wireId }), resultOf('id1')])).messages[1];

    expect(sentOf('i'.repeat(64))).to.deep.equal(resultOf('i'.repeat(64)));
    expect(sentOf('i'.repeat(65))).to.deep.equal(resultOf('id1'));
  });

  for (const name of [
    'multi_tool_use.parallel',
    'functions.look',
    '',
    ' ',
    '9',
    'ü',
    'x'.repeat(500),
  ])
    it(`[D86] sends ${JSON.stringify(name.slice(0, 30))} in a legal form that no tool has`, () => {
      const prompt = new Prompt([asking(call('a', name)), resultOf('a', name)]);

      const [asked, result] = toSentPrompt(prompt).messages as [AssistantMessage, Message];
      const sent = asked.toolCalls?.[0]?.name ?? '';

      expect(sent).to.match(LEGAL_NAME);
      expect(sent).to.match(/_[0-9a-f]{8}$/);
      expect(result).to.have.property('toolName', sent);
    });

  it('[D86] sends the name of an offered tool unchanged', () => {
    const definition = {
      ...defineTool({ name: 'm', execute: () => 'x' }).definition,
      name: 'maps.search',
    };
    const tools = [{ definition }];
    const prompt = new Prompt([asking(call('a', 'maps.search'))], { tools });

    expect(toSentPrompt(prompt)).to.equal(prompt);
  });

  it('maps what is appended to a prompt like the whole', () => {
    const more = [asking({ ...call('id1'), wireId: 'call_1' }), resultOf('id1')];
    const first = new Prompt([asking(call('a')), resultOf('a')]);
    toSentPrompt(first);
    const grown = first.append(...more);
    toSentPrompt(grown);
    const all = grown.append({ role: 'user', content: 'q' }, ...more);

    const { messages } = toSentPrompt(all);

    expect(messages).to.deep.equal(toSentPrompt(new Prompt(all.messages)).messages);
    expect(toSentPrompt(first)).to.equal(first);
  });
});

/** A model of one's own: the same id in each answer, twice, or none. */
function repeating(ids: readonly (string | undefined)[]): ChatModel {
  return new ScriptedChatModel(({ messages }) =>
    messages.at(-1)?.role === 'tool'
      ? 'Done.'
      : answerOf(...ids.map((id) => ({ ...call(id as string, 'pay') }))),
  );
}

for (const mode of MODES)
  for (const [place, options] of Object.entries({
    'outside the loop': { storeToolMessages: true },
    'inside the loop': { order: AdvisorOrder.TOOL_CALLING + 100 },
  }))
    for (const ids of [['call_1'], ['c1'], ['x', 'x'], [undefined], ['', '']])
      for (const maxMessages of [2, 100])
        it(`[D71] ${mode}: calls with the ids ${JSON.stringify(ids)}, memory ${place}, window ${maxMessages}: each turn is stored once`, async () => {
          let paid = 0;
          const repository = new InMemoryChatMemoryRepository();
          const chatMemory = new MessageWindowChatMemory({ repository, maxMessages });
          const pay = defineTool({ name: 'pay', execute: () => `receipt ${++paid}` });
          const client = ChatClient.builder(repeating(ids))
            .defaultTools(pay)
            .defaultAdvisors(new MessageChatMemoryAdvisor({ chatMemory, ...options }))
            .build();

          for (let turn = 1; turn <= 5; turn++) {
            const spec = client.prompt(`Pay ${turn}`);
            await runSpec(
              mode,
              spec.advisors((a) => a.param(CONVERSATION_ID, 'anna')),
            );
          }

          const log = (await repository.read('anna', {})).messages.map(({ message }) => message);
          expect(log.map(({ role }) => role)).to.deep.equal(
            Array.from({ length: 5 }, () => [
              'user',
              'assistant',
              ...ids.map(() => 'tool'),
              'assistant',
            ]).flat(),
          );
          const receipts = log.flatMap((m) => (m.role === 'tool' ? [m.content] : []));
          expect(receipts).to.deep.equal(
            Array.from({ length: 5 * ids.length }, (_, at) => `receipt ${at + 1}`),
          );
        });

it('[D71] the events of calls have the ids of their pieces', async () => {
  const model = new ScriptedChatModel([{ toolCalls: [{ id: 'call_1', name: 'look' }] }, 'Done.']);
  const look = defineTool({ name: 'look', execute: () => 'seen' });
  const events: ChatEvent[] = [];
  await new Promise<void>((resolve, reject) => {
    ChatClient.create(model)
      .prompt('q')
      .tools(look)
      .stream()
      .events()
      .subscribe({ next: (event) => events.push(event), error: reject, complete: resolve });
  });

  const ids = events.flatMap((event) => {
    if (event.type === 'tool-call-delta') return [event.id];
    return event.type === 'tool-call' || event.type === 'tool-result' ? [event.call.id] : [];
  });
  expect(new Set(ids).size).to.equal(1);
  expect(ids[0]).to.match(LEGAL_ID);
});
