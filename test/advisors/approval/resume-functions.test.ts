import { expect } from 'chai';
import {
  agentTool,
  ApprovalAdvisor,
  CancelledError,
  ChatClient,
  defineTool,
  InMemoryKeyValueStore,
  InvalidArgumentError,
  ModelCallError,
  PausedStateError,
  type ApprovalAdvisorOptions,
  type ChatResponse,
  type Decision,
  type KeyValueStore,
  type PausedTurn,
  type PendingRequest,
} from '../../../src/index.js';
import { ScriptedChatModel, type Script } from '../../../src/testing/index.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';
import { decideAll, SECRET } from '../../support/paused-turns.js';
import { deferred } from '../../support/promises.js';

const pays = (...amounts: readonly number[]) => ({
  toolCalls: amounts.map((amount, at) => ({ id: `c${at}`, name: 'pay', arguments: { amount } })),
});
const asks = { toolCalls: [{ id: 'q', name: 'book' }] };
const allow: Decision = { type: 'allow', by: 'anna' };

interface Setting {
  readonly store?: KeyValueStore;
  readonly script?: Script;
  readonly options?: ApprovalAdvisorOptions;
}

/** A client as each process makes it: processes share the store alone. */
function setUp({ store = new InMemoryKeyValueStore(), script = [], options }: Setting = {}) {
  const ran: unknown[] = [];
  const amount = { type: 'number' } as const;
  const pay = defineTool({
    name: 'pay',
    effect: 'write',
    input: { type: 'object', properties: { amount }, required: ['amount'] },
    execute: (args) => `paid ${ran.push((args as { readonly amount: number }).amount)}`,
  });
  const book = defineTool({
    name: 'book',
    effect: 'read',
    execute: async (_, { ask }) => {
      const schema = { type: 'object', properties: { time: { type: 'string' } } } as const;
      return `booked ${ran.push(await ask({ ...schema, required: ['time'] }, 'When?'))}`;
    },
  });
  const model = new ScriptedChatModel(script);
  const client = ChatClient.builder(model)
    .defaultTools(pay, book)
    .defaultAdvisors(new ApprovalAdvisor({ ...options, pause: { secrets: SECRET, store } }))
    .build();
  return { store, model, client, ran };
}

const pausedOf = ({ paused }: ChatResponse): Required<PausedTurn> => paused as Required<PausedTurn>;
const amountOf = (request: PendingRequest): unknown =>
  request.type === 'approval' && (request.arguments as { readonly amount: number }).amount;

describe('a function that decides when a turn is resumed', () => {
  for (const mode of MODES) {
    it(`gets each open request, and decides as a record does (${mode})`, async () => {
      const { client, model, ran } = setUp({ script: [pays(1, 2, 3), 'Done.'] });
      const { id, requests } = pausedOf(await runSpec(mode, client.prompt('Pay.')));
      const asked: PendingRequest[] = [];

      const resumed = client.resume(id, (request) => {
        asked.push(request);
        if (amountOf(request) === 1) return allow;
        if (amountOf(request) === 2) return { type: 'deny', reason: 'Too much.' };
        return { type: 'edit', arguments: { amount: 30 } };
      });
      const end = await runSpec(mode, resumed);

      expect(asked).to.deep.equal(requests);
      expect(ran).to.deep.equal([1, 30]);
      expect(end.text).to.equal('Done.');
      expect(JSON.stringify(model.prompts.at(-1)?.messages)).to.include('Too much.');
    });

    it(`leaves a request open with undefined (${mode})`, async () => {
      const { client, ran } = setUp({ script: [pays(1, 2), 'Done.'] });
      const first = pausedOf(await runSpec(mode, client.prompt('Pay.')));

      const half = client.resume(first.id, (request) =>
        amountOf(request) === 2 ? allow : undefined,
      );
      const second = pausedOf(await runSpec(mode, half));
      const ranAtFirst = [...ran];
      const asked: unknown[] = [];
      const rest = client.resume(second.id, (request) => (asked.push(amountOf(request)), allow));
      const end = await runSpec(mode, rest);

      expect(second.requests.map(amountOf)).to.deep.equal([1]);
      expect(ranAtFirst).to.deep.equal([2]);
      expect([asked, end.text, ran]).to.deep.equal([[1], 'Done.', [2, 1]]);
    });

    it(`answers the question of a tool (${mode})`, async () => {
      const { client, ran } = setUp({ script: [asks, 'Booked.'] });
      const { id } = pausedOf(await runSpec(mode, client.prompt('Book.')));

      const refused = await failureOf(
        runSpec(
          mode,
          client.resume(id, () => ({ type: 'answer', value: { time: 7 } })),
        ),
      );
      const answered = client.resume(id, ({ type }) =>
        type === 'question' ? { type: 'answer', value: { time: '7 pm' } } : undefined,
      );
      const end = await runSpec(mode, answered);

      expect(refused).to.be.instanceOf(PausedStateError).with.property('reason', 'decision');
      expect([end.text, ran]).to.deep.equal(['Booked.', [{ time: '7 pm' }]]);
    });

    it(`refuses the resume if it throws, and loses nothing (${mode})`, async () => {
      const { client, ran } = setUp({ script: [pays(1, 2), 'Done.'] });
      const paused = await runSpec(mode, client.prompt('Pay.'));
      const { id, requests } = pausedOf(paused);
      const cause = new Error('no such person');
      const throwing = client.resume(id, (request) => {
        if (amountOf(request) === 2) throw cause;
        return allow;
      });

      const error = await failureOf(runSpec(mode, throwing));
      const ranAtFirst = [...ran];
      const end = await runSpec(mode, client.resume(id, decideAll(paused)));

      expect(error).to.be.instanceOf(PausedStateError);
      expect(error).to.include({ reason: 'decision', requestId: requests[1]?.id, cause });
      expect(error)
        .to.have.property('message')
        .that.matches(/^Request ".*": the function of resume\(…\) has failed: no such person\.$/);
      expect([ranAtFirst, end.text, ran]).to.deep.equal([[], 'Done.', [1, 2]]);
    });

    it(`may return promises (${mode})`, async () => {
      const { client, ran } = setUp({ script: [pays(1, 2), 'Done.'] });
      const { id } = pausedOf(await runSpec(mode, client.prompt('Pay.')));
      const rejecting = client.resume(id, async (request) => {
        await Promise.resolve();
        if (amountOf(request) === 1) return allow;
        throw new Error('no database');
      });
      const deciding = client.resume(id, async (request) => {
        await Promise.resolve();
        return amountOf(request) === 1 ? allow : { type: 'deny' };
      });

      const error = await failureOf(runSpec(mode, rejecting));
      const end = await runSpec(mode, deciding);

      expect(error).to.be.instanceOf(PausedStateError).with.property('reason', 'decision');
      expect([end.text, ran]).to.deep.equal(['Done.', [1]]);
    });

    it(`reaches the turns of agents (${mode})`, async () => {
      const store = new InMemoryKeyValueStore();
      const inner = setUp({ script: [pays(5), 'Paid by agent.'], options: { decide: 'elsewhere' } }); // prettier-ignore
      const agent = agentTool(inner.client, { name: 'agent', description: 'Pays.' });
      const calls = { toolCalls: [{ name: 'agent', arguments: { message: 'Pay.' } }] };
      const outer = setUp({
        store,
        script: [calls, 'Done.'],
        options: { policy: { agent: 'allow' } },
      });
      const { id } = pausedOf(await runSpec(mode, outer.client.prompt('Go.').tools(agent)));
      const agents: unknown[] = [];

      const resumed = outer.client
        .prompt()
        .tools(agent)
        .resume(id, (request) => (agents.push(request.agents), allow));
      const end = await runSpec(mode, resumed);

      expect([agents, inner.ran, end.text]).to.deep.equal([[['agent']], [5], 'Done.']);
    });
  }

  for (const [result, type, message] of [
    [null, InvalidArgumentError, 'the decision must be a plain object, not null'],
    [true, InvalidArgumentError, 'the decision must be a plain object'],
    [{ type: 'yes' }, InvalidArgumentError, 'type must be'],
    [{ type: 'allow', by: '' }, InvalidArgumentError, 'by must be a non-blank string'],
    [{ type: 'answer', value: 1 }, PausedStateError, '"answer" is no decision on a request of type "approval"'], // prettier-ignore
    [{ type: 'edit', arguments: { amount: 'x' } }, PausedStateError, 'amount'],
    [{ type: 'allow', scope: 'always' }, PausedStateError, 'its scope must be once'],
  ] as const)
    it(`checks what it returns: ${JSON.stringify(result)}`, async () => {
      const { client, ran } = setUp({ script: [pays(1), 'Done.'] });
      const { id } = pausedOf(await client.prompt('Pay.').call().chatResponse());

      const error = await failureOf(
        client
          .resume(id, () => result as never)
          .call()
          .content(),
      );
      const end = await client
        .resume(id, () => allow)
        .call()
        .content();

      expect(error).to.be.instanceOf(type).with.property('message').that.includes(message);
      expect([end, ran]).to.deep.equal(['Done.', [1]]);
    });

  it('gets a copy of the request', async () => {
    const { client, ran } = setUp({ script: [pays(1), 'Done.'] });
    const { id } = pausedOf(await client.prompt('Pay.').call().chatResponse());
    const changing = client.resume(id, (request) => {
      Object.assign(request, { id: 'other', arguments: { amount: 9 }, scopes: ['always'] });
      return { type: 'allow', scope: 'always' };
    });

    const error = await failureOf(changing.call().content());

    expect(error).to.be.instanceOf(PausedStateError).with.property('reason', 'decision');
    expect(ran).to.deep.equal([]);
  });

  it('is not asked about a turn of another conversation or owner', async () => {
    const scope: ApprovalAdvisorOptions['scope'] = ({ context }) =>
      context.values['user'] as string;
    const { client } = setUp({ script: [pays(1), 'Done.'], options: { scope } });
    const anna = client.prompt('Pay.').conversation('anna-7').toolContext({ user: 'anna' });
    const { id } = pausedOf(await anna.call().chatResponse());
    const asked: PendingRequest[] = [];
    const resumed = client.resume(id, (request) => (asked.push(request), allow));

    const errors = [
      await failureOf(resumed.conversation('ben-1').toolContext({ user: 'anna' }).call().content()),
      await failureOf(resumed.toolContext({ user: 'ben' }).call().content()),
    ];

    expect(errors.map((error) => (error as PausedStateError).reason)).to.deep.equal([
      'conversation',
      'owner',
    ]);
    expect(asked).to.deep.equal([]);
  });

  for (const handle of ['id', 'state'] as const)
    it(`is not asked again when the same resume is repeated after a failure (by ${handle})`, async () => {
      const store = new InMemoryKeyValueStore();
      const down = new ModelCallError('down', { status: 503 });
      const first = setUp({ store, script: [pays(1), down] });
      const paused = pausedOf(await first.client.prompt('Pay.').call().chatResponse());
      let asked = 0;
      const decide = (): Decision => ({ ...allow, by: `anna ${++asked}` });

      const error = await failureOf(first.client.resume(paused[handle], decide).call().content());
      const second = setUp({ store, script: ['Done.'] });
      const end = await second.client.resume(paused[handle], decide).call().content();

      expect(error).to.be.instanceOf(ModelCallError);
      expect([end, asked, first.ran, second.ran]).to.deep.equal(['Done.', 1, [1], []]);
    });

  it('decides once of two processes that resume at the same time', async () => {
    const store = new InMemoryKeyValueStore();
    const first = setUp({ store, script: [pays(1), 'Done.'] });
    const { id } = pausedOf(await first.client.prompt('Pay.').call().chatResponse());
    const second = setUp({ store, script: ['Done.'] });
    const resume = ({ client }: typeof first): Promise<unknown> =>
      client
        .resume(id, () => allow)
        .call()
        .content()
        .catch((error: { readonly reason?: string }) => error.reason);

    const ends = await Promise.all([resume(first), resume(second)]);

    // the second one comes while the first one runs, or after its end
    expect(ends).to.include('Done.');
    expect(ends.filter((end) => end === 'running' || end === 'used')).to.have.lengthOf(1);
    expect([...first.ran, ...second.ran]).to.deep.equal([1]);
  });

  it('decides on the requests of the state that it is given, not on requests of a later pause', async () => {
    const { client, ran } = setUp({ script: [pays(1), pays(2), 'Done.'] });
    const { id, state } = pausedOf(await client.prompt('Pay.').call().chatResponse());
    const resume = (handle: string): Promise<ChatResponse> =>
      client
        .resume(handle, () => allow)
        .call()
        .chatResponse();
    const second = await resume(state);

    const repeated = await resume(state);
    const ranTwice = [...ran];
    const end = await resume(id);

    expect(pausedOf(repeated).requests.map(amountOf)).to.deep.equal([2]);
    expect(pausedOf(second).requests.map(amountOf)).to.deep.equal([2]);
    expect([ranTwice, end.text, ran]).to.deep.equal([[1], 'Done.', [1, 2]]);
  });

  it('does not decide if the turn was cancelled while it was asked', async () => {
    const { client, ran } = setUp({ script: [pays(1), 'Done.'] });
    const { id } = pausedOf(await client.prompt('Pay.').call().chatResponse());
    const answer = deferred<Decision>();
    const isAsked = deferred<undefined>();
    const abort = new AbortController();
    const resumed = client
      .resume(id, () => (isAsked.resolve(undefined), answer.promise))
      .signal(abort.signal)
      .call()
      .content();
    const failed = failureOf(resumed);
    await isAsked.promise;
    abort.abort();
    answer.resolve(allow);

    expect(await failed).to.be.instanceOf(CancelledError);
    await new Promise((resolve) => setTimeout(resolve));
    const denied = client.resume(id, () => ({ type: 'deny' }));
    expect(await denied.call().content()).to.equal('Done.');
    expect(ran).to.deep.equal([]);
  });
});
