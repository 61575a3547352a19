import { expect } from 'chai';
import { DbosTurns, dbosEngine } from '../../../src/engines/dbos/dbos.js';
import {
  CancelledError,
  ChatClient,
  ChatResponse,
  DurableAdvisor,
  DurableTurnError,
  InvalidArgumentError,
  ModelCallError,
  defineTool,
  type ChatEvent,
  type Prompt,
} from '../../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../../src/testing/index.js';
import { TestDbos } from '../../support/dbos.js';

type Question = { readonly question: string; readonly note?: string };

/** Keys that the tool was called with. */
const paid: (string | undefined)[] = [];
const models: Prompt[] = [];

function answer(prompt: Prompt): ScriptedAnswer {
  models.push(prompt);
  const results = prompt.messages.filter(({ role }) => role === 'tool');
  const [question] = prompt.messages;
  const text = question?.role === 'user' ? (question.content as string) : '';
  if (text === 'fail') return new ModelCallError('overloaded', { status: 529, retryable: true });
  if (text === 'hang') return { text: 'never', delay: 600_000 };
  if (text === 'pay' && results.length < 2)
    return { toolCalls: [{ id: `call_${results.length}`, name: 'pay', arguments: {} }] };
  return `${text}: ${results.length} results`;
}

const client = ChatClient.builder(new ScriptedChatModel(answer))
  .defaultTools(
    defineTool({
      name: 'pay',
      description: 'Pays.',
      input: { type: 'object' },
      effect: 'write',
      execute: (_, { idempotencyKey }) => {
        paid.push(idempotencyKey);
        return 'paid';
      },
    }),
  )
  .defaultAdvisors(new DurableAdvisor({ engine: dbosEngine }))
  .build();

const errorOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('DbosTurns', () => {
  let dbos: TestDbos | undefined;
  let turns: DbosTurns<Question>;
  let approvals: DbosTurns;
  let streamed: DbosTurns<Question>;
  const events: ChatEvent[] = [];

  before(async function () {
    dbos = await TestDbos.launch(this, () => {
      turns = new DbosTurns({ name: 'questions', run: ({ question }) => client.prompt(question) });
      streamed = new DbosTurns({
        name: 'streamed',
        run: ({ question }) => client.prompt(question),
        onEvent: (event) => void events.push(event),
      });
      approvals = new DbosTurns({
        name: 'approvals',
        run: async (_, { engine }) => {
          const request = { type: 'approval', id: 'a', toolName: 'pay' };
          const first = await engine.waitFor('a', { request });
          return client.prompt(JSON.stringify([first, await engine.waitFor('b')]));
        },
      });
    });
  });

  after(() => dbos?.stop());

  describe('start', () => {
    it('answers, and records model and tool calls as steps', async () => {
      const turnId = await turns.start({ question: 'pay' });

      const response = await turns.result(turnId);

      expect(response).to.be.instanceOf(ChatResponse);
      expect(response.text).to.equal('pay: 2 results');
      expect((await turns.steps(turnId)).map(({ name }) => name)).to.deep.equal([
        'model 0',
        'tool pay call_0 begin',
        'tool pay call_0',
        'model 1',
        'tool pay call_1 begin',
        'tool pay call_1',
        'model 2',
      ]);
      expect(await turns.status(turnId)).to.equal('finished');
    });

    it('starts a turn once for its id', async () => {
      const input = { question: 'once', note: 'x' };
      const before = models.length;

      const started = await Promise.all(
        [input, input, { note: 'x', question: 'once' }].map((each) =>
          turns.start(each, { turnId: 'once' }),
        ),
      );
      await turns.result('once');

      expect(started).to.deep.equal(['once', 'once', 'once']);
      expect(models.length - before).to.equal(1);
    });

    it('rejects another input under the id of a turn', async () => {
      await turns.start({ question: 'first' }, { turnId: 'taken' });

      const error = await errorOf(turns.start({ question: 'second' }, { turnId: 'taken' }));

      expect(error).to.be.instanceOf(DurableTurnError);
      expect(String(error)).to.include("'taken' was started with another input");
    });

    it('rejects the id of a turn of another conversation', async () => {
      const question = { question: 'hi' };
      await turns.start(question, { turnId: 'key', conversationId: 'anna' });

      const error = await errorOf(turns.start(question, { turnId: 'key', conversationId: 'ben' }));

      expect(String(error)).to.include('or in another conversation');
    });

    it('rejects an input that JSON cannot hold', async () => {
      const input = { question: new Date(0) as unknown as string };

      const error = await errorOf(turns.start(input));

      expect(error).to.be.instanceOf(DurableTurnError);
      expect(String(error)).to.include('the input of the turn.question ');
    });
  });

  it('emits the events of a turn that it streams', async () => {
    const turnId = await streamed.start({ question: 'hello' });

    const { text } = await streamed.result(turnId);

    const deltas = events.flatMap((event) => (event.type === 'text-delta' ? [event.text] : []));
    expect(deltas.join('')).to.equal(text);
    expect(events.at(-1)?.type).to.equal('response');
  });

  it('resolves the results of turns of this process at their end, whatever the interval', async () => {
    const turnId = await approvals.start(null);
    const results = [1, 2].map(() => approvals.result(turnId, { pollInterval: 3_600_000 }));
    while ((await approvals.pending(turnId)).length === 0);

    for (const id of ['a', 'b']) await approvals.decide(turnId, id, { type: 'allow' });

    const [first, second] = await Promise.all(results);
    expect(first?.text).to.equal(second?.text);
  });

  it('rejects the result with the typed error of the turn', async () => {
    const turnId = await turns.start({ question: 'fail' });

    const error = await errorOf(turns.result(turnId));

    expect(error).to.be.instanceOf(ModelCallError);
    expect(error).to.include({ code: 'model_call', status: 529, retryable: true });
    expect(await turns.status(turnId)).to.equal('failed');
  });

  describe('decide', () => {
    it('gives a turn the first decision, before it waits and while it waits', async () => {
      const turnId = await approvals.start(null);

      await approvals.decide(turnId, 'b', { type: 'deny', reason: 'no' });
      await approvals.decide(turnId, 'b', { type: 'allow' });
      await approvals.decide(turnId, 'a', { type: 'allow', by: 'Anna' });

      expect((await approvals.result(turnId)).text).to.equal(
        '[{"type":"allow","by":"Anna"},{"type":"deny","reason":"no"}]: 0 results',
      );
    });

    it('shows the requests that wait', async () => {
      const turnId = await approvals.start(null);
      let pending = await approvals.pending(turnId);
      while (pending.length === 0) pending = await approvals.pending(turnId);

      expect(pending).to.deep.equal([{ type: 'approval', id: 'a', toolName: 'pay' }]);
      await approvals.decide(turnId, 'a', { type: 'allow' });
      await approvals.decide(turnId, 'b', { type: 'allow' });
      await approvals.result(turnId);
      expect(await approvals.pending(turnId)).to.deep.equal([]);
    });

    it('rejects a decision for a turn that has ended', async () => {
      const turnId = await turns.start({ question: 'short' });
      await turns.result(turnId);

      const error = await errorOf(turns.decide(turnId, 'a', { type: 'allow' }));

      expect(error).to.be.instanceOf(DurableTurnError);
      expect(String(error)).to.include('is finished; it waits for nothing');
    });
  });

  describe('cancel', () => {
    it('ends a turn in the middle of a model call', async () => {
      const turnId = await turns.start({ question: 'hang' });
      while (!models.some(({ messages }) => JSON.stringify(messages).includes('hang')))
        await new Promise((resolve) => setTimeout(resolve, 5));

      await turns.cancel(turnId);

      expect(await errorOf(turns.result(turnId))).to.be.instanceOf(CancelledError);
      expect(await turns.status(turnId)).to.equal('cancelled');
    });

    it('ends a turn that another process has cancelled', async () => {
      const turnId = await approvals.start(null);
      while ((await approvals.pending(turnId)).length === 0);

      await dbos?.query(
        "UPDATE dbos.workflow_status SET status = 'CANCELLED' WHERE workflow_uuid = $1",
        turnId,
      );

      expect(await errorOf(approvals.result(turnId))).to.be.instanceOf(CancelledError);
    });

    it('does not change a turn that has ended', async () => {
      const turnId = await turns.start({ question: 'ended' });
      await turns.result(turnId);

      await turns.cancel(turnId);

      expect(await turns.status(turnId)).to.equal('finished');
    });
  });

  describe('fork', () => {
    it('runs a step and all later ones again, in a turn of its own with other idempotency keys', async () => {
      const turnId = await turns.start({ question: 'pay' });
      await turns.result(turnId);
      paid.length = 0;
      const asked = models.length;

      const fork = await turns.fork(turnId, 'tool pay call_1');

      expect((await turns.result(fork)).text).to.equal('pay: 2 results');
      expect(paid).to.have.length(1);
      expect(paid[0]).to.be.a('string');
      expect(String(paid[0])).to.not.include(turnId);
      expect(models.length - asked).to.equal(1);
    });

    it('names the steps of the turn if it has none with the name', async () => {
      const turnId = await turns.start({ question: 'short' });
      await turns.result(turnId);

      const error = await errorOf(turns.fork(turnId, 'model 7'));

      expect(String(error)).to.include("has no step 'model 7'; its steps are: model 0");
    });
  });

  describe('schedule', () => {
    it('starts a turn at its times', async () => {
      await turns.schedule({ name: 'often', cron: '* * * * * *', input: { question: 'due' } });
      const started = (): Promise<readonly unknown[]> =>
        dbos?.query(
          "SELECT workflow_uuid AS id FROM dbos.workflow_status WHERE name = 'questions' AND workflow_uuid LIKE 'often %'",
        ) ?? Promise.resolve([]);
      let rows = await started();
      while (rows.length === 0) {
        await new Promise((resolve) => setTimeout(resolve, 100));
        rows = await started();
      }
      await turns.unschedule('often');

      const { id } = rows[0] as { id: string };
      expect((await turns.result(id)).text).to.equal('due: 0 results');
    });

    it('rejects a cron expression that is none', async () => {
      const schedule = { name: 'x', cron: 'often', input: { question: 'x' } };

      expect(String(await errorOf(turns.schedule(schedule)))).to.include('5 or 6 fields');
    });
  });

  for (const [method, call] of Object.entries({
    result: () => turns.result('missing'),
    status: () => turns.status('missing'),
    pending: () => turns.pending('missing'),
    decide: () => turns.decide('missing', 'a', { type: 'allow' }),
    cancel: () => turns.cancel('missing'),
    fork: () => turns.fork('missing', 'model 0'),
    steps: () => turns.steps('missing'),
  }))
    it(`${method} rejects the id of no turn`, async () => {
      const error = await errorOf(call());

      expect(error).to.be.instanceOf(DurableTurnError);
      expect(String(error)).to.include("There is no turn 'missing'");
    });

  it('fails a turn whose records were changed in the database', async () => {
    const turnId = await approvals.start(null);
    while ((await approvals.pending(turnId)).length === 0);
    await dbos?.interrupt(turnId);
    await dbos?.query(
      "UPDATE dbos.operation_outputs SET output = $2 WHERE workflow_uuid = $1 AND function_name = 'wait a asked'",
      turnId,
      '{"json":"{broken"}',
    );

    await dbos?.recover(turnId);

    const error = await errorOf(approvals.result(turnId));
    expect(error).to.include({ code: 'json' });
    expect(String(error)).to.include("value of the step 'wait a asked' is not one");
  });

  it('must be created before DBOS is launched', () => {
    const create = (): unknown => new DbosTurns({ name: 'x', run: () => client.prompt('x') });

    expect(create).to.throw(InvalidArgumentError, /before DBOS.launch\(\)/);
  });
});
