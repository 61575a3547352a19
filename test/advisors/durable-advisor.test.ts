import { expect } from 'chai';
import {
  ChatClient,
  defineTool,
  DurableAdvisor,
  DurableTurnError,
  InMemoryDurableEngine,
  InvalidArgumentError,
  ModelCallError,
  RetryAdvisor,
  ToolError,
  toolResult,
} from '../../src/index.js';
import { ScriptedChatModel, type Script, type ScriptedAnswer } from '../../src/testing/index.js';
import { durableSpec, finish, KilledEngine, type DurableTurn } from '../support/durable.js';

const CALL = { name: 'look', id: 'c1', arguments: { at: 1 } };
const ANSWERS: readonly ScriptedAnswer[] = [
  { toolCalls: [CALL], usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 } },
  {
    text: 'The answer is here.',
    reasoning: 'Hm.',
    citations: [{ kind: 'web', url: 'https://example.org' }] as never,
  },
];

/** Answers by the iteration, also in a process that continues a turn. */
const SCRIPT: Script = ({ messages }) =>
  ANSWERS[messages.filter(({ role }) => role === 'assistant').length] as ScriptedAnswer;

function lookTurn(
  calls: string[],
  effect?: 'read' | 'write' | 'idempotent',
): DurableTurn & { model: ScriptedChatModel } {
  const look = defineTool({
    name: 'look',
    effect,
    execute: () => {
      calls.push('look');
      return 'found';
    },
  });
  return { model: new ScriptedChatModel(SCRIPT), tools: [look] };
}

describe('DurableAdvisor', () => {
  for (const [options, message] of [
    [
      {},
      'engine must be a DurableEngine with step, sleep and waitFor, such as dbosEngine, or a function, not undefined',
    ],
    [
      { engine: () => undefined, onUnknown: 'ask it' },
      `onUnknown must be 'ask', 'refuse' or 'run', not "ask it"`,
    ],
    [{ engine: () => undefined, name: ' ' }, 'name must be a non-blank string'],
  ] as const)
    it(`rejects ${message}`, () => {
      expect(() => new DurableAdvisor(options as never)).to.throw(InvalidArgumentError, message);
    });

  for (const mode of ['call', 'stream'] as const) {
    it(`replays a finished turn without its model and its tools (${mode})`, async () => {
      const calls: string[] = [];
      const first = new InMemoryDurableEngine();
      const whole = await finish(durableSpec(lookTurn(calls, 'read'), first), mode);
      const again = lookTurn(calls, 'read');

      const replayed = await finish(
        durableSpec(again, new InMemoryDurableEngine(first.entries())),
        mode,
      );

      expect(again.model.prompts).to.have.length(0);
      expect(calls).to.deep.equal(['look']);
      expect(replayed.response?.text).to.equal('The answer is here.');
      expect(replayed.response?.generations).to.deep.equal(whole.response?.generations);
      expect(replayed.response?.usage).to.deep.equal(whole.response?.usage);
    });

    it(`names its steps by iteration and call (${mode})`, async () => {
      const engine = new InMemoryDurableEngine();
      await finish(durableSpec(lookTurn([], 'write'), engine), mode);

      expect(engine.entries().map(([name]) => name)).to.deep.equal([
        'model 0',
        'tool look c1 begin',
        'tool look c1',
        'model 1',
      ]);
    });

    it(`fails a turn without an engine (${mode})`, async () => {
      const turn = lookTurn([]);
      const client = ChatClient.builder(turn.model)
        .defaultAdvisors(new DurableAdvisor({ engine: () => undefined }))
        .build();

      const { error } = await finish(client.prompt('question'), mode);

      expect(error).to.be.instanceOf(DurableTurnError);
      expect((error as Error).message).to.include('start it in one');
    });

    it(`does not run a write tool again that an interrupted execution has begun (${mode})`, async () => {
      const calls: string[] = [];
      const killed = new KilledEngine([], { at: 2, place: 'after' });
      await finish(durableSpec(lookTurn(calls, 'write'), killed), mode);
      const again = lookTurn(calls, 'write');

      const { response } = await finish(
        durableSpec(again, new KilledEngine(killed.inner.entries())),
        mode,
      );

      expect(calls).to.deep.equal(['look']);
      expect(response?.run?.toolCalls[0]?.result?.content).to.include(
        'Not run: An earlier attempt',
      );
    });

    it(`records failures of models: a retry is not made twice (${mode})`, async () => {
      const script: Script = [new ModelCallError('busy', { status: 503, retryable: true }), 'ok'];
      const advisors = [new RetryAdvisor({ firstDelay: 0 })];
      const first = new InMemoryDurableEngine();
      await finish(durableSpec({ model: new ScriptedChatModel(script), advisors }, first), mode);
      const model = new ScriptedChatModel([]);

      const engine = new InMemoryDurableEngine(first.entries());
      const { response } = await finish(durableSpec({ model, advisors }, engine), mode);

      expect(response?.text).to.equal('ok');
      expect(response?.run?.ledger.map(({ outcome }) => outcome)).to.deep.equal([
        'failed',
        'answered',
      ]);
    });
  }

  it('streams the text of a replayed answer as one delta, with its reasoning', async () => {
    const first = new InMemoryDurableEngine();
    await finish(durableSpec(lookTurn([], 'read'), first), 'stream');

    const engine = new InMemoryDurableEngine(first.entries());
    const { events } = await finish(durableSpec(lookTurn([], 'read'), engine), 'stream');

    const types = events.map(({ type }) => type);
    expect(types).to.deep.equal([
      'iteration-start',
      'tool-call-delta',
      'iteration',
      'tool-call',
      'tool-result',
      'step',
      'iteration-start',
      'reasoning-delta',
      'text-delta',
      'citation',
      'response',
    ]);
  });

  it('records errors of tools: they are typed again', async () => {
    const fail = defineTool({
      name: 'look',
      effect: 'read',
      execute: () => {
        throw new ToolError('nothing here');
      },
    });
    const first = new InMemoryDurableEngine();
    const turn = { model: new ScriptedChatModel(SCRIPT), tools: [fail] };
    await finish(durableSpec(turn, first), 'call');

    const engine = new InMemoryDurableEngine(first.entries());
    const { response } = await finish(
      durableSpec({ ...turn, model: new ScriptedChatModel([]) }, engine),
      'call',
    );

    const result = response?.run?.toolCalls[0]?.result;
    expect(result?.content).to.equal('nothing here');
    expect(result?.error).to.be.instanceOf(ToolError);
  });

  it('keeps bytes of results', async () => {
    const picture = new Uint8Array([1, 2, 255]);
    const look = defineTool({
      name: 'look',
      effect: 'read',
      execute: () =>
        toolResult({ content: [{ type: 'image', data: picture, mediaType: 'image/png' }] }),
    });
    const first = new InMemoryDurableEngine();
    await finish(
      durableSpec({ model: new ScriptedChatModel(SCRIPT), tools: [look] }, first),
      'call',
    );

    const engine = new InMemoryDurableEngine(first.entries());
    const turn = { model: new ScriptedChatModel([]), tools: [look] };
    const { response } = await finish(durableSpec(turn, engine), 'call');

    const content = response?.run?.toolCalls[0]?.result?.content;
    expect(content).to.deep.equal([{ type: 'image', data: picture, mediaType: 'image/png' }]);
  });
});
