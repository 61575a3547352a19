import { expect } from 'chai';
import { z } from 'zod';
import * as z3 from 'zod/v3';
import '../../../src/core/json-schema/zod3.js';
import {
  agentTool,
  ApprovalAdvisor,
  ChatClient,
  defineTool,
  DurableAdvisor,
  InMemoryDurableEngine,
  InMemoryKeyValueStore,
  ToolError,
  ToolLedgerAdvisor,
  type ApprovalAdvisorOptions,
  type Advisor,
  type Decision,
  type PendingRequest,
  type QuestionRequest,
  type Tool,
  type ToolContext,
} from '../../../src/index.js';
import type { DurableEntries } from '../../../src/engines/in-memory-engine.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { approvalTurn, resultsOf } from '../../support/approval.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';
import { SECRET } from '../../support/paused-turns.js';

type Ask = ToolContext['ask'];

/** A tool that runs a function with `ask`. */
const asking = (execute: (ask: Ask) => unknown, more: object = {}): Tool =>
  defineTool({ name: 'book', effect: 'read', execute: (_, { ask }) => execute(ask), ...more });

const turnOf = (tool: Tool, options: ApprovalAdvisorOptions) =>
  approvalTurn({
    tools: [tool],
    answers: [{ toolCalls: [{ id: 'c0', name: 'book' }] }, 'Booked.'],
    options,
  });

const answering =
  (...values: readonly unknown[]) =>
  (request: PendingRequest): Decision =>
    request.type === 'question'
      ? { type: 'answer', value: values[Number(/\?(\d+)\./.exec(request.id)?.[1]) - 1] as never }
      : { type: 'allow' };

describe('context.ask', () => {
  for (const [what, schema, value] of [
    ['zod 4', z.object({ time: z.string() }), { time: '19:00' }],
    ['zod 4 without an object', z.enum(['a', 'b']), 'a'],
    ['zod 3', z3.object({ time: z3.string() }), { time: '19:00' }],
    ['JSON Schema', { type: 'object', properties: { time: { type: 'string' } } }, { time: '9' }],
    ['JSON Schema as text', '{"type":"string"}', '19:00'],
  ] as const)
    it(`asks by a schema of ${what}`, async () => {
      const asked: PendingRequest[] = [];
      const tool = asking((ask) => ask(schema as never, 'When?'));
      const { spec, model } = turnOf(tool, {
        decide: (request) => {
          asked.push(request);
          return answering(value)(request);
        },
      });

      await spec.call().content();

      const [request] = asked as [QuestionRequest];
      expect(request).to.include({ type: 'question', toolName: 'book', callId: 'c0' });
      expect(request).to.include({ prompt: 'When?' });
      expect(request.schema).to.have.property('type');
      const shown = typeof value === 'string' ? value : JSON.stringify(value);
      expect(resultsOf(model)).to.deep.equal([shown]);
    });

  it('has the type of the schema', async () => {
    const tool = asking(async (ask) => {
      const { people } = await ask(z.object({ people: z.number() }), 'How many?');
      return people + 1;
    });
    const { spec, model } = turnOf(tool, { decide: answering({ people: 2 }) });

    await spec.call().content();

    expect(resultsOf(model)).to.deep.equal(['3']);
  });

  it('asks again with the problem if the answer does not fit', async () => {
    const problems: (string | undefined)[] = [];
    const tool = asking((ask) => ask(z.number().max(3), 'How many?'));
    const { spec, model } = turnOf(tool, {
      decide: ({ problem }) => {
        problems.push(problem);
        return { type: 'answer', value: problem ? 3 : 30 };
      },
    });

    await spec.call().content();

    expect(problems).to.have.length(2);
    expect(problems[1]).to.include('The answer is not valid');
    expect(resultsOf(model)).to.deep.equal(['3']);
  });

  it('rejects with a ToolError, which the model reads, if the person refuses', async () => {
    let error: unknown;
    const tool = asking((ask) =>
      ask(z.string(), 'When?').catch((thrown: unknown) => {
        error = thrown;
        throw thrown;
      }),
    );
    const { spec, model } = turnOf(tool, { decide: () => ({ type: 'cancel' }) });

    await spec.call().content();

    expect(error).to.be.instanceOf(ToolError);
    expect(resultsOf(model)).to.deep.equal(['The user did not answer the question: When?']);
  });

  it('fails without an ApprovalAdvisor', async () => {
    let error: unknown;
    const tool = asking((ask) => ask(z.string(), 'When?').catch((thrown) => void (error = thrown)));
    const model = new ScriptedChatModel([{ toolCalls: [{ id: 'c0', name: 'book' }] }, 'Done.']);

    await ChatClient.create(model).prompt('?').tools(tool).call().content();

    expect(error).to.include({ code: 'approval', toolName: 'book' });
  });

  it('stops the time limit of the tool while it waits, but not while the tool runs', async () => {
    const tool = asking(
      async (ask) => {
        await ask(z.string(), 'When?');
        return new Promise(() => undefined);
      },
      { timeout: 100 },
    );
    const answered = Date.now();
    const { spec, model } = turnOf(tool, {
      decide: () =>
        new Promise((resolve) => {
          setTimeout(() => resolve({ type: 'answer', value: 'now' }), 200);
        }),
    });

    await spec.call().content();

    expect(Date.now() - answered).to.be.greaterThan(250);
    expect(resultsOf(model)[0]).to.include('did not answer within 100 ms');
  });

  it('gives a retried attempt the answers of the attempt before', async () => {
    let [attempts, asked] = [0, 0];
    const tool = asking(
      async (ask) => {
        const time = await ask(z.string(), 'When?');
        if (++attempts === 1) throw new Error('down');
        return time;
      },
      { retries: 1 },
    );
    const { spec, model } = turnOf(tool, {
      decide: () => {
        asked++;
        return { type: 'answer', value: 'now' };
      },
    });

    await spec.call().content();

    expect([attempts, asked, resultsOf(model)]).to.deep.equal([2, 1, ['now']]);
  });

  it('a tool of an agent asks by the advisor of the outer turn', async () => {
    const inner = ChatClient.builder(
      new ScriptedChatModel([{ toolCalls: [{ id: 'i', name: 'book' }] }, 'Inner.']),
    )
      .defaultTools(asking((ask) => ask(z.string(), 'When?')))
      .build();
    const agent = agentTool(inner, { name: 'booker', description: 'Books.', effect: 'read' });
    const asked: PendingRequest[] = [];
    const { spec } = approvalTurn({
      tools: [agent],
      answers: [
        { toolCalls: [{ id: 'o', name: 'booker', arguments: { message: 'Book.' } }] },
        'Done.',
      ],
      options: {
        decide: (request) => {
          asked.push(request);
          return { type: 'answer', value: 'now' };
        },
      },
    });

    await spec.call().content();

    expect(asked[0]).to.deep.include({ toolName: 'book', agents: ['booker'] });
  });

  for (const mode of MODES) {
    it(`${mode}: pauses the turn, and the tool runs again with the answers`, async () => {
      const begun: number[] = [];
      let booked = 0;
      const tool = asking(
        async (ask) => {
          begun.push(begun.length);
          const time = await ask(z.string(), 'When?');
          const people = await ask(z.number(), 'How many?');
          booked++;
          return `${people} at ${time}`;
        },
        { effect: 'write' },
      );
      const model = new ScriptedChatModel([{ toolCalls: [{ id: 'c0', name: 'book' }] }, 'Booked.']);
      const pause = { secrets: SECRET, store: new InMemoryKeyValueStore() };
      const client = ChatClient.builder(model)
        .defaultTools(tool)
        .defaultAdvisors(new ApprovalAdvisor({ policy: { book: 'allow' }, pause }))
        .build();

      const prompts: string[][] = [];
      let response = await runSpec(mode, client.prompt('Book.'));
      while (response.paused) {
        const { state, requests } = response.paused;
        prompts.push(requests.map(({ prompt }) => prompt));
        const decide = answering('19:00', 4);
        const decisions = Object.fromEntries(requests.map((each) => [each.id, decide(each)]));
        response = await runSpec(mode, client.resume(state, decisions));
      }

      expect(response.text).to.equal('Booked.');
      expect(prompts).to.deep.equal([['When?'], ['How many?']]);
      expect([booked, resultsOf(model)]).to.deep.equal([1, ['4 at 19:00']]);
    });
  }

  it('a durable turn waits, and has the effect once also if it runs again', async () => {
    let booked = 0;
    const tool = asking(
      async (ask) => {
        const time = await ask(z.string(), 'When?');
        return `${++booked} ${time}`;
      },
      { effect: 'write' },
    );
    const run = async (entries: DurableEntries) => {
      const model = new ScriptedChatModel(({ messages }) =>
        messages.at(-1)?.role === 'tool' ? 'Booked.' : { toolCalls: [{ id: 'c0', name: 'book' }] },
      );
      const engine = new InMemoryDurableEngine(entries);
      const waiting = new Promise<string>((resolve) => {
        const waitFor = engine.waitFor.bind(engine);
        engine.waitFor = (name, options) => {
          resolve(name);
          return waitFor(name, options);
        };
      });
      const client = ChatClient.builder(model)
        .defaultTools(tool)
        .defaultAdvisors(
          new ApprovalAdvisor({ policy: { book: 'allow' } }),
          new DurableAdvisor({ engine: () => engine }),
        )
        .build();
      const controller = new AbortController();
      const text = client.prompt('Book.').turnId('t').signal(controller.signal).call().content();
      text.catch(() => undefined);
      return { engine, waiting, text, controller, model };
    };
    const first = await run([]);
    await first.waiting;
    const entries = first.engine.entries();
    first.controller.abort(); // its process ends
    const second = await run(entries);
    second.engine.send(await second.waiting, { type: 'answer', value: '19:00' });
    await second.text;

    const third = await run(second.engine.entries());
    const text = await third.text;

    expect([text, booked]).to.deep.equal(['Booked.', 1]);
    expect(resultsOf(second.model)).to.deep.equal(['1 19:00']);
  });

  it('a tool that handles the error of an open question has no result', async () => {
    const tool = asking((ask) => ask(z.string(), 'When?').catch(() => 'continued'));
    const pause = { secrets: SECRET, store: new InMemoryKeyValueStore() };
    const { spec } = turnOf(tool, { pause });

    const { paused } = await spec.call().chatResponse();

    expect(paused?.requests).to.have.length(1);
  });

  it('a tool ledger lets the tool run again for the answer', async () => {
    let booked = 0;
    const tool = asking(async (ask) => `${++booked} ${await ask(z.string(), 'When?')}`, {
      effect: 'write',
    });
    const ledger: Advisor = new ToolLedgerAdvisor({ store: new InMemoryKeyValueStore() });
    const pause = { secrets: SECRET, store: new InMemoryKeyValueStore() };
    const { spec } = turnOf(tool, { pause, policy: { book: 'allow' } });
    const model = new ScriptedChatModel(['Booked.']);
    const client = ChatClient.builder(model)
      .defaultTools(tool)
      .defaultAdvisors(new ApprovalAdvisor({ pause, policy: { book: 'allow' } }), ledger)
      .build();

    const { paused } = await spec.advisors(ledger).call().chatResponse();
    const decisions = { [paused?.requests[0]?.id ?? '']: { type: 'answer', value: 'x' } as const };
    const text = await client
      .resume(paused?.state ?? '', decisions)
      .call()
      .content();

    expect(text).to.equal('Booked.');
    expect(resultsOf(model)[0]).to.match(/x$/);
  });

  for (const [what, ask, message] of [
    ['a schema that is none', (ask: Ask) => ask(1 as never, 'When?'), 'the schema must be'],
    ['a blank prompt', (ask: Ask) => ask(z.string(), ' '), 'prompt must be a non-blank string'],
  ] as const)
    it(`rejects ${what}`, async () => {
      let error: unknown;
      const tool = asking((given) => ask(given).catch((thrown: unknown) => void (error = thrown)));
      const { spec } = turnOf(tool, { decide: answering('x') });

      await failureOf(spec.call().content());

      expect(error).to.include({ code: 'invalid_argument' });
      expect((error as Error).message).to.include(message);
    });
});
