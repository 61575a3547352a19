import { expect } from 'chai';
import {
  AdvisorOrder,
  agentTool,
  ApprovalAdvisor,
  ChatClient,
  CONVERSATION_ID,
  defineAdvisor,
  defineTool,
  InMemoryDurableEngine,
  ModelCallError,
  ObservabilityAdvisor,
  type Advisor,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { entriesOf, latestTurn, newInspector } from '../../support/inspected-turns.js';
import { durableSpec, finish } from '../../support/durable.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';
import { decideAll, pauseOptions } from '../../support/paused-turns.js';
import { recordSpans } from '../../support/recorded-spans.js';

const look = defineTool({ name: 'look', execute: () => 'seen' });
const LOOKS = { toolCalls: [{ name: 'look', id: 'a' }] };
const USAGE = { inputTokens: 3, outputTokens: 2, totalTokens: 5 };

describe('a recorded turn', () => {
  for (const mode of MODES) {
    it(`names the advisor that an error came from (${mode})`, async () => {
      const inspector = newInspector();
      const broken = defineAdvisor({
        name: 'broken',
        order: 6_000,
        before: () => {
          throw new TypeError('no good');
        },
      });
      const outer = defineAdvisor({ name: 'outer', order: 2_000, after: () => undefined });
      const client = ChatClient.create(new ScriptedChatModel(['x']));

      await failureOf(runSpec(mode, client.prompt('?').advisors(inspector, broken, outer)));

      const { outcome, error, timeline } = latestTurn(inspector);
      expect(outcome).to.equal('failed');
      expect(error).to.deep.equal({ name: 'TypeError', message: 'no good', advisor: 'broken' });
      expect(timeline.map((each) => each.outcome)).to.deep.equal(['error', 'error', 'error']);
    });

    it(`has the cost of each call, which add up to the one of the turn (${mode})`, async () => {
      const inspector = newInspector();
      const model = new ScriptedChatModel([
        { ...LOOKS, usage: USAGE },
        { text: 'x', usage: { ...USAGE, totalTokens: 7 } },
      ]);
      const client = ChatClient.builder(model)
        .defaultTools(look)
        .price(({ usage }) => usage?.totalTokens ?? 0)
        .build();

      await runSpec(mode, client.prompt('?').advisors(inspector));

      const { cost, timeline, ledger } = latestTurn(inspector);
      const costs = timeline.filter(({ kind }) => kind === 'model-call').map((each) => each.cost);
      expect([cost, costs]).to.deep.equal([12, [5, 7]]);
      expect(ledger.map((each) => each.cost)).to.deep.equal([5, 7]);
    });

    it(`names no advisor for an error of the model (${mode})`, async () => {
      const inspector = newInspector();
      const failure = new ModelCallError('down', { status: 503 });
      const client = ChatClient.create(new ScriptedChatModel([failure]));

      await failureOf(runSpec(mode, client.prompt('?').advisors(inspector)));

      const turn = latestTurn(inspector);
      expect(turn.error).to.deep.equal({
        name: 'ModelCallError',
        message: 'down',
        code: 'model_call',
      });
      expect(entriesOf(turn)).to.deep.equal([
        'advisor tool-calling: error',
        'model-call scripted: error',
      ]);
    });

    it(`has events, progress and results of tools (${mode})`, async () => {
      const inspector = newInspector();
      const slow = defineTool({
        name: 'slow',
        execute: (_, { progress }) => {
          progress({ percent: 50 });
          throw new Error('broken pipe');
        },
      });
      const notes = defineAdvisor({
        name: 'notes',
        order: 6_000,
        around: (request, next, { emit }) => {
          emit({ type: 'custom', name: 'note', data: { n: request.iteration } } as never);
          return next(request);
        },
      });
      const script = [{ toolCalls: [{ name: 'slow', id: 's', arguments: { a: 1 } }] }, 'Done.'];
      const client = ChatClient.create(new ScriptedChatModel(script));

      await runSpec(mode, client.prompt('?').tools(slow).advisors(inspector, notes));

      const { timeline } = latestTurn(inspector);
      const tool = timeline.find(({ kind }) => kind === 'tool-call');
      expect(tool).to.deep.include({ name: 'slow', outcome: 'error', iteration: 0 });
      expect(tool?.error).to.deep.equal({ name: 'Error', message: 'broken pipe' });
      expect(tool?.detail).to.deep.include({ arguments: { a: 1 }, isError: true });
      const events = timeline.filter(({ kind }) => kind === 'event');
      expect(events.map(({ name, parent, detail }) => ({ name, parent, detail }))).to.deep.equal([
        { name: 'note', parent: undefined, detail: { data: { n: 0 } } },
        { name: 'slow', parent: tool?.id, detail: { data: { percent: 50 } } },
        { name: 'note', parent: undefined, detail: { data: { n: 1 } } },
      ]);
    });

    it(`has usage, and the time to the first text of a stream (${mode})`, async () => {
      const inspector = newInspector();
      const client = ChatClient.create(new ScriptedChatModel([{ text: 'One two.', usage: USAGE }]));

      await runSpec(mode, client.prompt('?').advisors(inspector));

      const turn = latestTurn(inspector);
      const call = turn.timeline.find(({ kind }) => kind === 'model-call');
      expect(turn.usage).to.deep.equal(USAGE);
      expect(call?.usage).to.deep.equal(USAGE);
      const isStream = mode === 'stream';
      expect(turn.firstToken !== undefined).to.equal(isStream);
      expect(call?.firstToken !== undefined).to.equal(isStream);
      expect(turn.ledger).to.have.length(1);
      expect(turn.answerText).to.equal('One two.');
    });

    it(`is one of a client with spans (${mode})`, async () => {
      const inspector = newInspector();
      const recording = recordSpans();
      const observability = new ObservabilityAdvisor({ tracer: recording.tracer });
      const client = ChatClient.create(new ScriptedChatModel([LOOKS, 'Done.']));

      await runSpec(mode, client.prompt('?').tools(look).advisors(inspector, observability));

      await new Promise((resolve) => setImmediate(resolve));
      expect(entriesOf(latestTurn(inspector))).to.deep.equal([
        'advisor observability',
        'advisor tool-calling',
        'model-call scripted',
        'tool-call look',
        'model-call scripted',
      ]);
      expect(recording.spans.map(({ name }) => name)).to.have.members([
        'invoke_agent',
        'advisor tool-calling',
        'chat scripted',
        'execute_tool look',
        'chat scripted',
      ]);
    });

    it(`is paused for a decision, and resumed as a turn of its own (${mode})`, async () => {
      const inspector = newInspector();
      const pay = defineTool({ name: 'pay', effect: 'write', execute: () => 'paid' });
      const approval = new ApprovalAdvisor({ pause: pauseOptions() });
      const client = ChatClient.builder(
        new ScriptedChatModel([{ toolCalls: [{ name: 'pay', id: 'p' }] }, 'Paid.']),
      )
        .defaultTools(pay)
        .defaultAdvisors(inspector, approval)
        .build();

      const response = await runSpec(mode, client.prompt('Pay.'));

      const first = latestTurn(inspector);
      expect(first.outcome).to.equal('paused');
      expect(first.pending.map(({ toolName }) => toolName)).to.deep.equal(['pay']);
      expect(first.timeline.at(-1)).to.deep.include({ kind: 'pause', name: 'pay' });
      expect(inspector.live(first.id)?.paused?.state).to.equal(response.paused?.state);

      await runSpec(mode, client.resume(response.paused?.state ?? '', decideAll(response)));

      const second = latestTurn(inspector);
      expect(second.id).not.to.equal(first.id);
      expect(second.turnId).to.equal(first.turnId);
      expect(second).to.deep.include({ outcome: 'answered', question: 'Pay.', answer: 'Paid.' });
      const tool = second.timeline.find(({ kind }) => kind === 'tool-call');
      expect(tool).to.deep.include({ name: 'pay', outcome: 'ok' });
    });

    it(`marks what a durable turn repeats (${mode})`, async () => {
      const engine = new InMemoryDurableEngine();
      const turnOf = (inspector: Advisor) => ({
        model: new ScriptedChatModel([LOOKS, 'Done.']),
        tools: [look],
        advisors: [inspector],
      });
      await finish(durableSpec(turnOf(newInspector()), engine), mode);
      const inspector = newInspector();

      const again = new InMemoryDurableEngine(engine.entries());
      await finish(durableSpec(turnOf(inspector), again), mode);

      const { timeline, outcome } = latestTurn(inspector);
      expect(outcome).to.equal('answered');
      const parts = timeline.filter(({ kind }) => kind.endsWith('-call'));
      expect(parts.map(({ kind, name, isReplayed }) => [kind, name, isReplayed])).to.deep.equal([
        ['model-call', 'scripted', true],
        ['tool-call', 'look', true],
        ['model-call', 'scripted', true],
      ]);
    });
  }

  it('is cancelled by its signal, and by the inspector', async () => {
    const inspector = newInspector();
    const model = new ScriptedChatModel([
      { text: 'a b c d', delay: 60_000 },
      { text: 'a b c d', delay: 60_000 },
    ]);
    const client = ChatClient.create(model);
    const abort = new AbortController();
    const runs = [
      failureOf(runSpec('stream', client.prompt('1').advisors(inspector).signal(abort.signal))),
      failureOf(runSpec('call', client.prompt('2').advisors(inspector))),
    ];
    const [, second] = inspector.turns();

    abort.abort();
    expect(inspector.cancel(second?.id ?? '')).to.equal(true);

    const errors = (await Promise.all(runs)) as { readonly code?: string }[];
    expect(errors.map(({ code }) => code)).to.deep.equal(['cancelled', 'cancelled']);
    expect(inspector.turns().map(({ outcome }) => outcome)).to.deep.equal([
      'cancelled',
      'cancelled',
    ]);
    expect(inspector.cancel(second?.id ?? '')).to.equal(false);
    const turn = latestTurn(inspector);
    expect(turn.timeline.map(({ end }) => end === undefined)).not.to.include(true);
  });

  it('is apart from turns at the same time, and from a turn of an agent within it', async () => {
    const inspector = newInspector();
    const inner = ChatClient.builder(new ScriptedChatModel(() => 'Inner.'))
      .defaultAdvisors(inspector)
      .build();
    const agent = agentTool(inner, { name: 'agent', description: 'asks' });
    const client = ChatClient.builder(
      new ScriptedChatModel((prompt) =>
        prompt.messages.at(-1)?.role === 'tool'
          ? `Done.`
          : { toolCalls: [{ name: 'agent', arguments: { message: 'inner?' } }] },
      ),
    )
      .defaultTools(agent)
      .defaultAdvisors(inspector)
      .build();

    await Promise.all(
      ['a', 'b'].map((id) =>
        client
          .prompt(`outer ${id}`)
          .advisors((advisors) => advisors.param(CONVERSATION_ID, id))
          .call()
          .content(),
      ),
    );

    const turns = inspector.turns().map(({ id }) => inspector.turn(id));
    const outer = turns.filter((turn) => turn?.question.startsWith('outer'));
    expect(outer.map((turn) => turn?.conversationId)).to.deep.equal(['a', 'b']);
    for (const turn of outer)
      expect(turn && entriesOf(turn)).to.deep.equal([
        'advisor tool-calling',
        'model-call scripted',
        'tool-call agent',
        'event agent', // of its turn, which has deltas besides
        'model-call scripted',
      ]);
    expect(turns).to.have.length(4);
    expect(turns.filter((turn) => turn?.answer === 'Inner.')).to.have.length(2);
  });

  it('records nothing in production, unless that is allowed', async () => {
    const inspector = newInspector({ allowInProduction: false });
    const client = ChatClient.create(new ScriptedChatModel(['x']));

    expect(await client.prompt('?').advisors(inspector).call().content()).to.equal('x');

    expect(inspector.turns()).to.deep.equal([]);
  });

  it('stands left of all other advisors', () => {
    expect(newInspector().order).to.be.lessThan(AdvisorOrder.TURN);
  });
});
