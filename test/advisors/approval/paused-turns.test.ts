import { expect } from 'chai';
import {
  CancelledError,
  CONVERSATION_ID,
  defineTool,
  InMemoryChatMemoryRepository,
  InMemoryKeyValueStore,
  InvalidArgumentError,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  ModelCallError,
  PausedStateError,
  type ChatClient,
  type ChatResponse,
  type PausedTurn,
  type Prompt,
  type Tool,
} from '../../../src/index.js';
import { PausedTurns } from '../../../advisors/approval/paused-turns.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../../src/testing/index.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';
import { decideAll, pauseOptions, pausingClient, SECRET } from '../../support/paused-turns.js';

const usage = { inputTokens: 10, outputTokens: 1, totalTokens: 11 };
const asks = (...calls: readonly (readonly [name: string, args: object])[]): ScriptedAnswer => ({
  text: 'One moment.',
  toolCalls: calls.map(([name, args], at) => ({ id: `c${at}`, name, arguments: { ...args } })),
  usage,
});
const answers = (text: string): ScriptedAnswer => ({ text, usage });

/** Tools that count their calls. */
function tools() {
  const paid: unknown[] = [];
  const seen: unknown[] = [];
  const input = { type: 'object', properties: { amount: { type: 'number' } } } as const;
  const pay = defineTool({
    name: 'pay',
    effect: 'write',
    input,
    execute: (args) => `paid ${paid.push(args)}`,
  });
  const look = defineTool({
    name: 'look',
    effect: 'read',
    input,
    execute: (args) => `seen ${seen.push(args)}`,
  });
  return { paid, seen, list: [pay, look] as readonly Tool[] };
}

const pauses = (client: ChatClient): Promise<ChatResponse> =>
  client.prompt('Pay 5').call().chatResponse();
const contentOf = (prompt: Prompt | undefined): unknown => {
  const last = prompt?.messages.at(-1);
  return last?.role === 'tool' ? last.content : undefined;
};
const stateOf = ({ paused }: ChatResponse): string => (paused as PausedTurn).state;

describe('a paused turn', () => {
  for (const [options, message] of [
    [undefined, 'the options must be an object'],
    [{}, 'secrets must be a text of at least 32 characters'],
    [{ secrets: 'short', store: new InMemoryKeyValueStore() }, 'secrets must be a text'],
    [{ secrets: [], store: new InMemoryKeyValueStore() }, 'secrets must be a text'],
    [{ secrets: SECRET }, 'store must be a KeyValueStore'],
    [{ ...pauseOptions(), ttl: 0 }, 'ttl must be a number of milliseconds > 0'],
    [{ ...pauseOptions(), maxSize: 10 }, 'maxSize must be an integer >= 1000'],
  ] as const)
    it(`is not configured with ${message}`, () => {
      expect(() => new PausedTurns(options as never)).to.throw(
        InvalidArgumentError,
        `pause: ${message}`,
      );
    });

  for (const [secrets, found] of [
    [undefined, 'undefined'], // as of an environment variable that is not set
    ['short secret', 'a text of 12'],
    [new Uint8Array(16), '16 bytes'],
    [[SECRET, 'short'], 'a text of 5'],
    [[], 'an array of 0'],
    [{ current: SECRET }, 'an object'],
  ] as const)
    it(`names invalid secrets as ${found}`, () => {
      expect(() => new PausedTurns(pauseOptions({ secrets: secrets as never }))).to.throw(
        InvalidArgumentError,
        new RegExp(
          `^pause: secrets must be a text of at least 32 .*the newest first, not ${found}$`,
        ),
      );
    });

  it('does not show a short secret in the message', () => {
    expect(() => new PausedTurns(pauseOptions({ secrets: 'short secret' })))
      .to.throw()
      .with.property('message')
      .which.does.not.include('short secret');
  });

  for (const mode of MODES)
    it(`continues where it was, and asks the model only what is new (${mode})`, async () => {
      const { paid, seen, list } = tools();
      const model = new ScriptedChatModel([asks(['pay', { amount: 5 }], ['look', {}])]);
      const options = pauseOptions();
      const paused = await runSpec(mode, pausingClient(model, list, options).prompt('Pay 5'));

      const later = new ScriptedChatModel([answers('Paid.')]);
      const client = pausingClient(later, list, options);
      const response = await runSpec(mode, client.resume(stateOf(paused), decideAll(paused)));

      expect([response.text, response.finishReason]).to.deep.equal(['Paid.', 'stop']);
      expect([paid, seen]).to.deep.equal([[{ amount: 5 }], [{}]]);
      expect(later.prompts).to.have.length(1);
      expect(later.prompts[0]?.messages.map(({ role }) => role)).to.deep.equal([
        'system',
        'user',
        'assistant',
        'tool',
        'tool',
      ]);
      expect(response.usage).to.deep.equal({ inputTokens: 20, outputTokens: 2, totalTokens: 22 });
      expect(response.ledger.map(({ isReplayed = false }) => isReplayed)).to.deep.equal([
        true,
        false,
      ]);
    });

  it('has the same transcript and steps as a turn that did not pause', async () => {
    const script = [asks(['pay', { amount: 5 }], ['look', {}]), answers('Paid.')];
    const straight = pausingClient(new ScriptedChatModel(script), tools().list, pauseOptions());
    const { list } = tools();
    const client = pausingClient(new ScriptedChatModel(script), list, pauseOptions());

    const paused = await pauses(client);
    const resumed = await client
      .resume(stateOf(paused), decideAll(paused))
      .call()
      .chatClientResponse();

    const expected = await straight
      .mutate()
      .build()
      .prompt('Pay 5')
      .call()
      .chatClientResponse()
      .then((first) =>
        straight.resume(stateOf(first), decideAll(first)).call().chatClientResponse(),
      );
    expect(resumed.transcript).to.deep.equal(expected.transcript);
    expect(resumed.steps.length).to.equal(2);
    expect(resumed.steps[0]?.toolCalls.map(({ status }) => status)).to.deep.equal([
      'finished',
      'finished',
    ]);
  });

  it('keeps requests without a decision open, and pauses again with a new state', async () => {
    const { paid, list } = tools();
    const script = [asks(['pay', { amount: 1 }], ['pay', { amount: 2 }]), answers('Done.')];
    const client = pausingClient(new ScriptedChatModel(script), list, pauseOptions());
    const first = await pauses(client);
    const [one] = first.paused?.requests ?? [];

    const second = await client
      .resume(stateOf(first), { [one?.id ?? '']: { type: 'allow' } })
      .call()
      .chatResponse();

    expect(second.finishReason).to.equal('paused');
    expect(second.paused?.requests.map((each) => each.id)).to.deep.equal([
      first.paused?.requests[1]?.id,
    ]);
    expect(paid).to.deep.equal([{ amount: 1 }]);
    const third = await client.resume(stateOf(second), decideAll(second)).call().content();
    expect(third).to.equal('Done.');
    expect(paid).to.deep.equal([{ amount: 1 }, { amount: 2 }]);
  });

  it('pauses again at a later call', async () => {
    const { paid, list } = tools();
    const script = [asks(['pay', { amount: 1 }]), asks(['pay', { amount: 2 }]), answers('Done.')];
    const model = new ScriptedChatModel(script);
    const client = pausingClient(model, list, pauseOptions());
    const first = await pauses(client);
    const second = await client.resume(stateOf(first), decideAll(first)).call().chatResponse();

    const text = await client.resume(stateOf(second), decideAll(second)).call().content();

    expect([text, paid]).to.deep.equal(['Done.', [{ amount: 1 }, { amount: 2 }]]);
    expect(model.prompts).to.have.length(3);
  });

  it('reports a denial to the model', async () => {
    const { paid, list } = tools();
    const model = new ScriptedChatModel([asks(['pay', { amount: 5 }]), answers('Not paid.')]);
    const client = pausingClient(model, list, pauseOptions());
    const paused = await pauses(client);

    const decisions = decideAll(paused, { type: 'deny', reason: 'too much' });
    await client.resume(stateOf(paused), decisions).call().content();

    expect(paid).to.deep.equal([]);
    expect(model.prompts[1]?.messages.at(-1)).to.include({ content: 'Denied: too much' });
  });

  it('[F89] is used once: the second resume of a turn that has ended is refused, and names the person', async () => {
    const { paid, list } = tools();
    const model = new ScriptedChatModel([asks(['pay', { amount: 5 }]), answers('Paid.')]);
    const client = pausingClient(model, list, pauseOptions());
    const paused = await pauses(client);
    const resumed = client.resume(stateOf(paused), decideAll(paused));
    await resumed.call().content();

    const error = await failureOf(resumed.call().content());

    expect(error).to.be.instanceOf(PausedStateError).with.property('reason', 'used');
    expect((error as Error).message).to.include('anna');
    expect(paid).to.have.length(1);
  });

  it('[F89] runs once if two processes resume it at the same time', async () => {
    const { paid, list } = tools();
    const model = new ScriptedChatModel([asks(['pay', { amount: 5 }]), answers('Paid.')]);
    const client = pausingClient(model, list, pauseOptions());
    const paused = await pauses(client);
    const resumed = client.resume(stateOf(paused), decideAll(paused));

    const ends = await Promise.allSettled([resumed.call().content(), resumed.call().content()]);

    expect(ends.map(({ status }) => status).toSorted()).to.deep.equal(['fulfilled', 'rejected']);
    expect(paid).to.have.length(1);
  });

  it('[F89] [agent-framework#7458] is not lost if the resumed run fails: its error has the turn, and no tool runs twice', async () => {
    const { paid, list } = tools();
    const down = new ModelCallError('down', { status: 503 });
    const model = new ScriptedChatModel([asks(['pay', { amount: 5 }]), down, answers('Paid.')]);
    const client = pausingClient(model, list, pauseOptions());
    const paused = await pauses(client);
    const error = await failureOf(
      client.resume(stateOf(paused), decideAll(paused)).call().content(),
    );

    const rest = (error as ModelCallError).paused as PausedTurn;
    const text = await client.resume(rest.state).call().content();

    expect(error).to.be.instanceOf(ModelCallError);
    expect(rest.requests).to.deep.equal([]);
    expect([text, paid.length]).to.deep.equal(['Paid.', 1]);
  });

  it('continues after a failure also by the same request again, as from a queue', async () => {
    const { paid, list } = tools();
    const down = new ModelCallError('down', { status: 503 });
    const script = [asks(['pay', { amount: 5 }]), down, down, answers('Paid.')];
    const client = pausingClient(new ScriptedChatModel(script), list, pauseOptions());
    const paused = await pauses(client);
    const resumed = client.resume(stateOf(paused), decideAll(paused));
    await failureOf(resumed.call().content());
    await failureOf(resumed.call().content());

    const text = await resumed.call().content();

    expect([text, paid.length]).to.deep.equal(['Paid.', 1]);
    expect(await failureOf(resumed.call().content())).to.have.property('reason', 'used');
  });

  it('[F89] continues after a cancellation by the same request, and runs no tool with an effect twice', async () => {
    const abort = new AbortController();
    let paid = 0;
    const pay = defineTool({
      name: 'pay',
      effect: 'write',
      execute: () => {
        if (++paid === 2) abort.abort();
        return new Promise<string>((resolve) => setTimeout(resolve, 0, 'paid'));
      },
    });
    const script = [asks(['pay', { amount: 1 }]), asks(['pay', { amount: 2 }]), answers('Done.')];
    const model = new ScriptedChatModel(script);
    const client = pausingClient(model, [pay], pauseOptions());
    const first = await pauses(client);
    const second = await client.resume(stateOf(first), decideAll(first)).call().chatResponse();
    const resumed = client.resume(stateOf(second), decideAll(second));
    const error = await failureOf(resumed.signal(abort.signal).call().content());
    await (error as CancelledError).run?.settled;

    const text = await resumed.call().content();

    expect(error).to.be.instanceOf(CancelledError);
    expect([text, paid]).to.deep.equal(['Done.', 2]);
    expect(contentOf(model.prompts.at(-1))).to.match(/^Not run: An earlier attempt/);
  });

  it('stores the turn in memory when it has ended, once', async () => {
    const { list } = tools();
    const repository = new InMemoryChatMemoryRepository();
    const chatMemory = new MessageWindowChatMemory({ repository });
    const memory = new MessageChatMemoryAdvisor({ chatMemory, onIncomplete: 'keep-partial' });
    const model = new ScriptedChatModel([asks(['pay', { amount: 5 }]), answers('Paid.')]);
    const client = pausingClient(model, list, pauseOptions(), memory);
    const paused = await client
      .prompt('Pay 5')
      .advisors((each) => each.param(CONVERSATION_ID, 'anna-7'))
      .call()
      .chatResponse();
    const before = await chatMemory.load('anna-7');

    await client.resume(stateOf(paused), decideAll(paused)).call().content();

    expect(before.messages).to.deep.equal([]);
    const { messages } = await chatMemory.load('anna-7');
    expect(messages.map(({ role }) => role)).to.deep.equal(['user', 'assistant']);
  });

  it('continues in a newer deployment: other system text, other tool objects', async () => {
    const options = pauseOptions();
    const before = tools();
    const first = new ScriptedChatModel([asks(['pay', { amount: 5 }])]);
    const paused = await pauses(pausingClient(first, before.list, options));
    const after = tools();
    const later = new ScriptedChatModel([answers('Paid.')]);
    const client = pausingClient(later, after.list, options)
      .mutate()
      .defaultSystem('You pay, politely.')
      .defaultAdvisors({
        name: 'clock',
        order: 100,
        before: (request) => request.withMessages([...request.prompt.messages]),
      })
      .build();

    await client.resume(stateOf(paused), decideAll(paused)).call().content();

    expect([before.paid, after.paid]).to.deep.equal([[], [{ amount: 5 }]]);
    expect(later.prompts[0]?.messages[0]).to.include({ content: 'You pay.' });
  });

  it('accepts states of older secrets, and signs with the newest', async () => {
    const { list } = tools();
    const store = new InMemoryKeyValueStore();
    const script = [asks(['pay', { amount: 5 }]), asks(['pay', { amount: 6 }]), answers('Paid.')];
    const model = new ScriptedChatModel(script);
    const newer = 'a newer secret, at least 32 characters long';
    const old = pausingClient(model, list, pauseOptions({ store }));
    const both = pausingClient(model, list, pauseOptions({ store, secrets: [newer, SECRET] }));
    const fresh = pausingClient(model, list, pauseOptions({ store, secrets: newer }));

    const first = await pauses(old);
    const second = await both.resume(stateOf(first), decideAll(first)).call().chatResponse();
    const text = await fresh.resume(stateOf(second), decideAll(second)).call().content();

    expect(text).to.equal('Paid.');
  });

  it('rejects setters for what its state has', () => {
    const client = pausingClient(new ScriptedChatModel([]), tools().list, pauseOptions());

    for (const change of [
      () => client.resume('state').user('x'),
      () => client.resume('state').system('x'),
      () => client.resume('state').messages({ role: 'user', content: 'x' }),
      () => client.resume('state').turnId('x'),
    ])
      expect(change).to.throw(
        InvalidArgumentError,
        'a resumed turn keeps the messages and id of its state',
      );
  });

  it('fails with a clear error beyond maxSize', async () => {
    const { list } = tools();
    const model = new ScriptedChatModel([asks(['pay', { amount: 5 }])]);
    const client = pausingClient(model, list, pauseOptions({ maxSize: 1_000 }));

    const error = await failureOf(client.prompt('x'.repeat(2_000)).call().content());

    expect(error).to.be.instanceOf(PausedStateError).with.property('reason', 'too-large');
  });

  it('that has become larger than maxSize continues with a greater one', async () => {
    const { paid, list } = tools();
    const script = [asks(['pay', { amount: 1 }]), asks(['pay', { amount: 2 }]), answers('Done.')];
    const model = new ScriptedChatModel(script);
    const options = pauseOptions();
    const first = await pauses(pausingClient(model, list, options));
    const resume = (maxSize: number): Promise<ChatResponse> =>
      pausingClient(model, list, { ...options, maxSize })
        .resume(stateOf(first), decideAll(first))
        .call()
        .chatResponse();

    const error = await failureOf(resume(stateOf(first).length));
    const second = await resume(1_000_000);

    expect(error).to.be.instanceOf(PausedStateError).with.property('reason', 'too-large');
    expect([second.finishReason, paid]).to.deep.equal(['paused', [{ amount: 1 }]]);
  });
});
