import { expect } from 'chai';
import { z } from 'zod';
import {
  agentTool,
  ApprovalAdvisor,
  ChatClient,
  defineTool,
  dryRun,
  DurableAdvisor,
  InMemoryDurableEngine,
  InMemoryKeyValueStore,
  KeywordToolIndex,
  RetryAdvisor,
  ToolCacheAdvisor,
  ToolLedgerAdvisor,
  ToolOutputError,
  ToolSearchAdvisor,
  type Advisor,
  type ApprovalAdvisorOptions,
  type ChatEvent,
  type Decision,
  type PendingRequest,
  type Tool,
} from '../../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../../src/testing/index.js';
import { resultsOf } from '../../support/approval.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';
import { SECRET } from '../../support/paused-turns.js';

const place = z.object({ city: z.string().min(2) });
const locate = defineTool({
  name: 'locate',
  effect: 'read',
  input: z.object({ precise: z.boolean().default(false) }),
  output: place,
});
const call = (id: string, name = 'locate', args: Readonly<Record<string, unknown>> = {}) => ({
  id,
  name,
  arguments: args,
});
const answer = (value: unknown): Decision => ({ type: 'answer', value: value as never });

function chain(
  answers: readonly ScriptedAnswer[],
  tools: readonly Tool[],
  options: ApprovalAdvisorOptions = {},
  ...advisors: readonly Advisor[]
) {
  const model = new ScriptedChatModel(answers);
  const pause = { secrets: SECRET, store: new InMemoryKeyValueStore() };
  const asks = options.decide ? options : { pause, ...options };
  const client = ChatClient.builder(model)
    .defaultTools(...tools)
    .defaultAdvisors(new ApprovalAdvisor(asks), ...advisors)
    .build();
  return { model, client };
}

const turn = (...calls: readonly ReturnType<typeof call>[]): readonly ScriptedAnswer[] => [
  { toolCalls: calls },
  'Done.',
];

describe('a tool without execute', () => {
  for (const mode of MODES)
    it(`is run by the client: the turn pauses, and its output resumes it (${mode})`, async () => {
      const { client, model } = chain(turn(call('c1')), [locate]);

      const { paused } = await runSpec(mode, client.prompt('Where am I?'));
      const [request] = paused?.requests ?? [];
      const found = await client.pending({ id: paused?.id ?? '' });
      const decisions = { [request?.id ?? '']: answer({ city: 'Rome', more: 1 }) };
      const end = await runSpec(mode, client.resume(paused?.id ?? '', decisions));

      expect(request).to.deep.include({
        type: 'client-tool',
        toolName: 'locate',
        callId: 'c1',
        arguments: { precise: false },
        prompt: 'Run "locate" in the client.',
      });
      expect(request).to.have.nested.property('schema.properties.city');
      expect(found[0]?.requests).to.deep.equal(paused?.requests);
      expect(end.text).to.equal('Done.');
      expect(resultsOf(model)).to.deep.equal(['{"city":"Rome"}']);
    });

  it('gives any JSON without an output schema', async () => {
    const show = defineTool({ name: 'show', effect: 'read' });
    for (const value of [null, 0, '', 'shown', [1, { a: null }], { content: 'x', isError: true }]) {
      const { client, model } = chain(turn(call('c1', 'show')), [show], {
        decide: () => answer(value),
      });

      await client.prompt('Show.').call().content();

      const text = typeof value === 'string' ? value : JSON.stringify(value);
      expect(resultsOf(model), text).to.deep.equal([text]);
    }
  });

  it('has an output that does not fit as an error result, as any tool', async () => {
    const { client, model } = chain(turn(call('c1')), [locate]);
    const { paused } = await client.prompt('Q').call().chatResponse();
    const events: ChatEvent[] = [];

    for await (const event of client
      .resume(paused?.id ?? '', () => answer({ city: 7 }))
      .stream()
      .events())
      events.push(event);

    const result = events.find((event) => event.type === 'tool-result')?.result;
    expect(result?.error).to.be.instanceOf(ToolOutputError);
    expect(resultsOf(model)[0]).to.include('its result cannot be shown');
  });

  for (const [decision, text] of [
    [{ type: 'cancel' }, 'The client did not run "locate".'],
    [
      { type: 'cancel', reason: 'GPS is off.' },
      'The client did not run "locate". Reason: GPS is off.',
    ],
  ] as const)
    it(`gives the model the text of a client that failed: ${text}`, async () => {
      const { client, model } = chain(turn(call('c1')), [locate]);
      const { paused } = await client.prompt('Q').call().chatResponse();

      await client
        .resume(paused?.id ?? '', () => decision)
        .call()
        .content();

      expect(resultsOf(model)).to.deep.equal([text]);
    });

  it('takes no decision of another type, and no reason that is no text', async () => {
    const { client } = chain(turn(call('c1')), [locate]);
    const { paused } = await client.prompt('Q').call().chatResponse();
    const id = paused?.id ?? '';

    for (const decision of [{ type: 'allow' }, { type: 'deny' }, { type: 'edit', arguments: {} }]) {
      const resumed = client.resume(id, () => decision as Decision).call();
      expect(await failureOf(resumed.content())).to.include({ reason: 'decision' });
    }
    const wrong = { type: 'cancel', reason: 7 } as unknown as Decision;
    const failed = failureOf(
      client
        .resume(id, () => wrong)
        .call()
        .content(),
    );
    expect(await failed).to.include({ code: 'invalid_argument' });
    expect((await client.pending({ id }))[0]?.requests).to.have.length(1);
  });

  it('fails the turn if the chain cannot ask its client', async () => {
    const model = new ScriptedChatModel(turn(call('c1')));

    const failed = await failureOf(
      ChatClient.create(model).prompt('Q').tools(locate).call().content(),
    );

    expect(failed).to.include({ code: 'approval', toolName: 'locate' });
    expect((failed as Error).message).to.equal(
      'tool "locate" has no execute, so the client runs it: it needs an ApprovalAdvisor with pause or decide in the chain',
    );
  });

  it('must leave execute out: one that is not there yet is a mistake', () => {
    expect(() => defineTool({ name: 'x', execute: undefined as never })).to.throw(/execute/);
  });

  it('runs only after an approval, with the arguments that a person has allowed', async () => {
    const open = defineTool({ name: 'open', effect: 'write', input: z.object({ n: z.number() }) });
    const { client, model } = chain(turn(call('c1', 'open', { n: 1 })), [open]);

    const first = await client.prompt('Q').call().chatResponse();
    const id = first.paused?.id ?? '';
    const early = client.resume(id, ({ type }) =>
      type === 'client-tool' ? answer('forged') : undefined,
    );
    const still = await early.call().chatResponse();
    const second = await client
      .resume(id, () => ({ type: 'edit', arguments: { n: 2 } }))
      .call()
      .chatResponse();
    const [request] = second.paused?.requests ?? [];
    await client
      .resume(id, () => answer('opened'))
      .call()
      .content();

    expect(first.paused?.requests.map(({ type }) => type)).to.deep.equal(['approval']);
    expect(still.paused?.requests.map(({ type }) => type)).to.deep.equal(['approval']);
    expect(request).to.deep.include({ type: 'client-tool', callId: 'c1', arguments: { n: 2 } });
    expect(resultsOf(model)).to.deep.equal(['opened']);
    expect(model.prompts.at(-1)?.messages).to.have.nested.property(
      '[1].toolCalls[0].arguments',
      '{"n":2}',
    );
  });

  it('does not run after a denial', async () => {
    const open = defineTool({ name: 'open', effect: 'write' });
    const { client, model } = chain(turn(call('c1', 'open')), [open]);
    const { paused } = await client.prompt('Q').call().chatResponse();

    const end = await client
      .resume(paused?.id ?? '', () => ({ type: 'deny' }))
      .call()
      .chatResponse();

    expect(end.text).to.equal('Done.');
    expect(resultsOf(model)[0]).to.include('denied');
  });

  it('is asked for beside others of its batch, which run once', async () => {
    let ran = 0;
    const count = defineTool({ name: 'count', effect: 'read', execute: () => ++ran });
    const alert = defineTool({
      name: 'alert',
      effect: 'write',
      input: z.object({ n: z.number() }),
    });
    const calls = [call('a', 'alert', { n: 1 }), call('s', 'count'), call('b', 'alert', { n: 2 })];
    const { client, model } = chain(turn(...calls), [count, alert], {
      policy: { alert: 'allow' },
    });

    const first = await client.prompt('Q').call().chatResponse();
    const id = first.paused?.id ?? '';
    const byCall = (callId: string, value: string) => (request: PendingRequest) =>
      request.callId === callId ? answer(value) : undefined;
    const second = await client.resume(id, byCall('b', 'second')).call().chatResponse();
    const end = await client.resume(id, byCall('a', 'first')).call().chatResponse();

    expect(first.paused?.requests.map(({ callId }) => callId)).to.deep.equal(['a', 'b']);
    expect(second.paused?.requests.map(({ callId }) => callId)).to.deep.equal(['a']);
    expect(end.text).to.equal('Done.');
    expect(resultsOf(model)).to.deep.equal(['first', '1', 'second']);
    expect(ran).to.equal(1);
  });

  it('is run by decide in this process, while its time limit stands still', async () => {
    const slow = defineTool({ name: 'slow', effect: 'read', timeout: 60, retries: 2 });
    let asked = 0;
    const { client, model } = chain(turn(call('c1', 'slow')), [slow], {
      decide: () =>
        new Promise((resolve) => {
          asked++;
          setTimeout(() => resolve(answer('at last')), 180);
        }),
    });

    await client.prompt('Q').call().content();

    expect(resultsOf(model)).to.deep.equal(['at last']);
    expect(asked).to.equal(1);
  });

  it('is asked for again by decide if an answer is no JSON', async () => {
    const problems: (string | undefined)[] = [];
    const { client, model } = chain(turn(call('c1')), [locate], {
      decide: ({ problem }) => {
        problems.push(problem);
        return answer(problem ? { city: 'Rome' } : new Date());
      },
    });

    await client.prompt('Q').call().content();

    expect(problems[1]).to.include('it must be JSON');
    expect(resultsOf(model)).to.deep.equal(['{"city":"Rome"}']);
  });

  it('of an agent is asked for by the outer turn', async () => {
    const inner = ChatClient.builder(new ScriptedChatModel(turn(call('i1'))))
      .defaultTools(locate)
      .defaultAdvisors(new ApprovalAdvisor({ decide: 'elsewhere' }))
      .build();
    const agent = agentTool(inner, { name: 'guide', description: 'Guides.', effect: 'read' });
    const { client, model } = chain(turn(call('o1', 'guide', { message: 'Where?' })), [agent]);

    const { paused } = await client.prompt('Q').call().chatResponse();
    const end = await client
      .resume(paused?.id ?? '', () => answer({ city: 'Rome' }))
      .call()
      .chatResponse();

    expect(paused?.requests[0]).to.deep.include({ type: 'client-tool', agents: ['guide'] });
    expect(end.text).to.equal('Done.');
    expect(resultsOf(model)).to.deep.equal(['Done.']);
  });

  it('has the output as the answer of the turn with returnDirect', async () => {
    const direct = defineTool({ name: 'direct', effect: 'read', returnDirect: true });
    const { client } = chain(turn(call('c1', 'direct')), [direct]);
    const { paused } = await client.prompt('Q').call().chatResponse();

    const end = await client
      .resume(paused?.id ?? '', () => answer('It is noon.'))
      .call()
      .content();

    expect(end).to.equal('It is noon.');
  });

  it('waits in a durable turn', async () => {
    const engine = new InMemoryDurableEngine();
    const waiting = new Promise<string>((resolve) => {
      const waitFor = engine.waitFor.bind(engine);
      engine.waitFor = (name, options) => {
        resolve(name);
        return waitFor(name, options);
      };
    });
    const model = new ScriptedChatModel(turn(call('c1')));
    const client = ChatClient.builder(model)
      .defaultTools(locate)
      .defaultAdvisors(new ApprovalAdvisor(), new DurableAdvisor({ engine: () => engine }))
      .build();

    const running = client.prompt('Q').turnId('t1').call().chatClientResponse();
    engine.send(await waiting, answer({ city: 'Rome' }) as never);
    expect((await running).text).to.equal('Done.');
    expect(resultsOf(model)).to.deep.equal(['{"city":"Rome"}']);
  });

  for (const [title, advisor, expected] of [
    [
      'a cache of results, which does not keep its output',
      new ToolCacheAdvisor({ scope: () => 'all' }),
      2,
    ],
    ['a ledger', new ToolLedgerAdvisor({ store: new InMemoryKeyValueStore() }), 2],
    ['a retry of the turn', new RetryAdvisor({ firstDelay: 1 }), 2],
  ] as const)
    it(`is asked for once each turn beside ${title}`, async () => {
      let asked = 0;
      const script = [...turn(call('c1')), ...turn(call('c2'))];
      const { client, model } = chain(
        script,
        [locate],
        { decide: () => (asked++, answer({ city: `Rome ${asked}` })) },
        advisor,
      );

      await client.prompt('Q').conversation('a').call().content();
      await client.prompt('Q').conversation('b').call().content();

      expect(asked).to.equal(expected);
      expect(resultsOf(model)).to.deep.equal([`{"city":"Rome ${expected}"}`]);
    });

  it('that has an effect is not asked for in a dry run', async () => {
    let asked = 0;
    const open = defineTool({ name: 'open', effect: 'write' });
    const decide = () => (asked++, answer('opened'));
    const { client, model } = chain(
      turn(call('c1', 'open')),
      [open],
      { decide, policy: { open: 'allow' } },
      dryRun(),
    );

    await client.prompt('Q').call().content();

    expect(asked).to.equal(0);
    expect(resultsOf(model)[0]).to.include('dry run');
  });

  it('is found by a search, and then asked for', async () => {
    const hidden = defineTool({ name: 'locate_me', effect: 'read', deferred: true });
    const script = [
      { toolCalls: [call('s1', 'toolSearchTool', { query: 'locate me' })] },
      ...turn(call('c1', 'locate_me')),
    ];
    const { client, model } = chain(
      script,
      [hidden],
      {},
      new ToolSearchAdvisor({ toolIndex: new KeywordToolIndex() }),
    );

    const { paused } = await client.prompt('Where am I? locate me').call().chatResponse();
    const end = await client
      .resume(paused?.id ?? '', () => answer('Rome'))
      .call()
      .content();

    expect(paused?.requests[0]).to.include({ type: 'client-tool', toolName: 'locate_me' });
    expect(end).to.equal('Done.');
    expect(resultsOf(model).at(-1)).to.equal('Rome');
  });
});
