import { expect } from 'chai';
import {
  ApprovalAdvisor,
  ChatClient,
  defineTool,
  InMemoryKeyValueStore,
  InvalidArgumentError,
  type Decision,
  type Tool,
} from '../../src/index.js';
import { approveAll, collect, ScriptedChatModel } from '../../src/testing/index.js';
import { failureOf } from '../support/modes.js';
import { pauseOptions } from '../support/paused-turns.js';

describe('collect', () => {
  const look = defineTool({ name: 'look', effect: 'read', execute: () => 'found' });

  it('has all events of one run, and its answer', async () => {
    const model = new ScriptedChatModel([{ toolCalls: [{ name: 'look' }] }, 'Hello there.']);

    const { events, response } = await collect(
      ChatClient.create(model).prompt('?').tools(look).stream(),
    );

    const texts = events.map((event) => (event.type === 'text-delta' ? event.text : ''));
    expect(texts.join('')).to.equal('Hello there.');
    expect(events.at(-1)).to.include({ type: 'response', response: response.chatResponse });
    expect([response.text, response.steps.length, model.prompts.length]).to.deep.equal([
      'Hello there.',
      2,
      2,
    ]);
  });

  it('rejects with the error of the stream', async () => {
    const down = new Error('down');
    const stream = ChatClient.create(new ScriptedChatModel([down]))
      .prompt('?')
      .stream();

    expect(await failureOf(collect(stream))).to.equal(down);
  });
});

describe('approveAll', () => {
  const paid: unknown[] = [];
  const pay = defineTool({ name: 'pay', effect: 'write', execute: (args) => void paid.push(args) });
  const question = defineTool({
    name: 'question',
    effect: 'read',
    execute: (_args, { ask }) => ask({ type: 'string' }, 'Which?'),
  });
  const pause = pauseOptions({ store: new InMemoryKeyValueStore() });
  const clientOf = (...tools: readonly Tool[]): ChatClient => {
    const toolCalls = tools.flatMap(({ definition: { name } }) => [
      { name, arguments: { at: 1 } },
      { name, arguments: { at: 2 } },
    ]);
    return ChatClient.builder(new ScriptedChatModel([{ toolCalls }, 'Done.']))
      .defaultTools(...tools)
      .defaultAdvisors(new ApprovalAdvisor({ pause }))
      .build();
  };

  beforeEach(() => {
    paid.length = 0;
  });

  it('allows all calls of a paused turn', async () => {
    const client = clientOf(pay);
    const { paused } = await client.prompt('Pay.').call().chatResponse();

    const text = await client
      .resume(paused?.state ?? '', approveAll(paused))
      .call()
      .content();

    expect(text).to.equal('Done.');
    expect(paid).to.deep.equal([{ at: 1 }, { at: 2 }]);
  });

  it('allows the calls of a turn that was found by its conversation', async () => {
    paid.length = 0;
    const client = clientOf(pay);
    await client.prompt('Pay.').conversation('found').call().chatResponse();
    const [turn] = await client.pending('found');

    const text = await client
      .resume(turn?.id ?? '', approveAll(turn))
      .call()
      .content();

    expect(text).to.equal('Done.');
    expect(paid).to.have.lengthOf(2);
  });

  it('makes another decision for all of them', async () => {
    const client = clientOf(pay);
    const { paused } = await client.prompt('Pay.').call().chatResponse();
    const deny: Decision = { type: 'deny', reason: 'Not today.' };

    await client
      .resume(paused?.state ?? '', approveAll(paused, deny))
      .call()
      .content();

    expect(paid).to.deep.equal([]);
  });

  it('leaves questions open', async () => {
    const { paused } = await clientOf(pay, question).prompt('Pay.').call().chatResponse();

    const types = Object.keys(approveAll(paused)).map(
      (id) => paused?.requests.find((each) => each.id === id)?.type,
    );
    expect(paused?.requests.map(({ type }) => type)).to.include('question');
    expect(types).to.deep.equal(['approval', 'approval']);
  });

  it('refuses a turn that is not paused', () => {
    expect(() => approveAll(undefined)).to.throw(InvalidArgumentError, 'the turn is not paused');
  });
});
