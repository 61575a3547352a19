import { expect } from 'chai';
import { map, retry } from 'rxjs';
import {
  AdvisorOrder,
  ChatClient,
  defineAdvisor,
  defineTool,
  type Advisor,
  type ChatEvent,
  type CustomEvent,
  type Tool,
} from '../../../src/index.js';
import { ToolCallingManager } from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { ChatResponse, Prompt } from '../../../src/index.js';
import { failureOf, MODES, type Mode } from '../../support/modes.js';

const note = (text: string): CustomEvent => ({ type: 'custom', name: 'test.note', data: { text } });

/** Advisors that know nothing of custom events, at both sides of the loop. */
const strangers = [AdvisorOrder.OBSERVABILITY, AdvisorOrder.STRUCTURED_OUTPUT_VALIDATION].flatMap(
  (order): readonly Advisor[] => [
    defineAdvisor({ name: `around-${order}`, order, around: (request, next) => next(request) }),
    defineAdvisor({ name: `holds-${order}`, order, holdDeltas: true, after: () => undefined }),
    defineAdvisor({ name: `before-${order}`, order, before: (request) => request }),
    defineAdvisor({ name: `event-${order}`, order, onEvent: (event) => event }),
    {
      name: `operator-${order}`,
      order,
      advise: (request, chain) => chain.next(request).pipe(map((event) => event)),
    },
  ],
);

interface Scene {
  readonly advisors?: readonly Advisor[];
  readonly tool?: Tool;
}

const look = defineTool({ name: 'look', execute: () => 'warm' });

/** Runs a turn of two iterations; returns the events at the left end of the chain. */
async function eventsOf(mode: Mode, { advisors = [], tool = look }: Scene): Promise<ChatEvent[]> {
  const events: ChatEvent[] = [];
  const outermost = defineAdvisor({
    name: 'outermost',
    order: 0,
    onEvent: (event) => void events.push(event),
  });
  const model = new ScriptedChatModel([
    { text: 'I look.', toolCalls: [{ id: 'a', name: 'look' }] },
    'Warm.',
  ]);
  const spec = ChatClient.create(model)
    .prompt('?')
    .tools(tool)
    .advisors(outermost, ...strangers, ...advisors);
  if (mode === 'call') await spec.call().content();
  else {
    const emitted: ChatEvent[] = [];
    for await (const event of spec.stream().events()) emitted.push(event);
    expect(customsOf(emitted)).to.deep.equal(customsOf(events));
  }
  return events;
}

const customsOf = (events: readonly ChatEvent[]): readonly ChatEvent[] =>
  events.filter(({ type }) => type === 'custom');

describe('custom events', () => {
  for (const mode of MODES) {
    for (const order of [AdvisorOrder.RETRIEVAL, AdvisorOrder.LOGGER])
      it(`[D12] of around pass all advisors, ${mode}, order ${order}`, async () => {
        const advisor = defineAdvisor({
          name: 'emits',
          order,
          around: async (request, next, chain) => {
            chain.emit(note('before'));
            const response = await next(request);
            chain.emit(note('after'));
            return response;
          },
        });

        const events = await eventsOf(mode, { advisors: [advisor] });

        const runs = order < AdvisorOrder.TOOL_CALLING ? 1 : 2;
        const pair = [note('before'), note('after')];
        expect(customsOf(events)).to.deep.equal(Array(runs).fill(pair).flat());
        expect(events.at(-1)?.type).to.equal('response');
      });

    it(`[D12] of onEvent pass all advisors, in their place, ${mode}`, async () => {
      const advisor = defineAdvisor({
        name: 'emits',
        order: AdvisorOrder.RETRIEVAL,
        onEvent: (event) => (event.type === 'tool-result' ? [note('done'), event] : undefined),
      });

      const events = await eventsOf(mode, { advisors: [advisor] });

      const at = events.findIndex(({ type }) => type === 'custom');
      expect(events.slice(at - 1, at + 2).map(({ type }) => type)).to.deep.equal([
        'tool-start',
        'custom',
        'tool-result',
      ]);
    });

    for (const timeout of [1_000, Infinity])
      it(`[D12] of a tool pass all advisors, ${mode}, timeout ${timeout}`, async () => {
        let emitLater: ((event: CustomEvent) => void) | undefined;
        const tool = defineTool({
          name: 'look',
          timeout,
          execute: (_args, { emit }) => {
            emit(note('here'));
            emitLater = emit;
            return 'warm';
          },
        });

        const events = await eventsOf(mode, { tool });
        emitLater?.(note('after the end'));

        expect(customsOf(events)).to.deep.equal([note('here')]);
      });

    it(`[D12] of a tool pass an advisor that copies its context, ${mode}`, async () => {
      const tool = defineTool({
        name: 'look',
        timeout: 1_000,
        execute: (_args, { emit }) => emit(note('here')),
      });
      const copies = defineAdvisor({
        name: 'copies',
        order: 0,
        aroundTool: (call, next) => next({ ...call, context: { ...call.context } }),
      });

      const events = await eventsOf(mode, { tool, advisors: [copies] });

      expect(customsOf(events)).to.deep.equal([note('here')]);
    });

    it(`[D12] are checked: the error names the advisor, ${mode}`, async () => {
      const advisor = defineAdvisor({
        name: 'wrong',
        order: AdvisorOrder.GUARD,
        around: (request, next, { emit }) => {
          emit({ type: 'text-delta', text: 'x' } as never);
          return next(request);
        },
      });

      const error = await failureOf(eventsOf(mode, { advisors: [advisor] }));

      expect(error).to.have.property('code', 'invalid_argument');
      expect(String(error)).to.include(`advisor "wrong": emit(…): event must be`);
    });
  }

  it('[D12] after the end of a run are dropped', async () => {
    let emitLater: ((event: CustomEvent) => void) | undefined;
    const advisor = defineAdvisor({
      name: 'emits',
      order: AdvisorOrder.GUARD,
      around: (request, next, { emit }) => {
        emitLater = emit;
        return next(request);
      },
    });

    const events = await eventsOf('stream', { advisors: [advisor] });
    emitLater?.(note('after the end'));

    expect(customsOf(events)).to.deep.equal([]);
  });

  it('[D12] of a tool reach onEvent of a manager run by hand', async () => {
    const events: ChatEvent[] = [];
    const tool = defineTool({ name: 'look', execute: (_args, { emit }) => emit(note('here')) });
    const message = {
      role: 'assistant',
      content: null,
      toolCalls: [{ id: 'a', name: 'look', arguments: '{}' }],
    } as const;
    const response = new ChatResponse({ generations: [{ message, finishReason: 'tool_calls' }] });

    await new ToolCallingManager().executeToolCalls(new Prompt('?', { tools: [tool] }), response, {
      onEvent: (event) => events.push(event),
    });

    expect(customsOf(events)).to.deep.equal([note('here')]);
  });
});

describe('events of iterations', () => {
  const typesOf = (events: readonly ChatEvent[]): readonly string[] =>
    events
      .map((event) =>
        'index' in event && event.type !== 'tool-call-delta'
          ? `${event.type} ${event.index}`
          : event.type,
      )
      .filter((type) => !type.endsWith('delta'));

  for (const mode of MODES)
    it(`[D24] mark when a model is called and when all tools have ended, ${mode}`, async () => {
      const events = await eventsOf(mode, {});

      expect(typesOf(events)).to.deep.equal([
        'iteration-start 0',
        'iteration 0',
        'tool-call',
        'tool-start',
        'tool-result',
        'step',
        'iteration-start 1',
        'response',
      ]);
      expect(events[0]).to.deep.equal({ type: 'iteration-start', index: 0, model: 'scripted' });
    });

  for (const [what, script, expected] of [
    ['copied', ['Hi.'], 'start text response'],
    ['and retried', [new Error('down'), 'Hi.'], 'start start text response'],
    [
      'and retried after deltas',
      [{ deltas: ['H'], error: new Error('down') }, 'Hi.'],
      'start text retract start text response',
    ],
  ] as const)
    it(`[D24] come once for each model call through an advisor that copies events, ${what}`, async () => {
      const copies: Advisor = {
        name: 'copies',
        order: AdvisorOrder.LOGGER,
        advise: (request, chain) =>
          chain.next(request).pipe(
            map((event) => ({ ...event })),
            retry(1),
          ),
      };
      const types: string[] = [];

      const source = ChatClient.create(new ScriptedChatModel(script)).prompt('?').advisors(copies);
      for await (const { type } of source.stream().events()) types.push(type);

      const short = types.map((type) => type.replace(/^iteration-|-delta$/, ''));
      expect(short.join(' ')).to.equal(expected);
    });

  it('[D24] name the model that is asked', async () => {
    const other = new ScriptedChatModel(['Hi.'], { model: 'other' });
    const spec = ChatClient.create(new ScriptedChatModel([]))
      .prompt('?')
      .advisors(
        defineAdvisor({ name: 'a', order: 0, before: (request) => request.withModel(other) }),
      );
    const models: unknown[] = [];

    for await (const event of spec.stream().events())
      if (event.type === 'iteration-start') models.push(event.model);

    expect(models).to.deep.equal(['other']);
  });

  it('[D24] have no model name if none is known', async () => {
    const spec = ChatClient.create(new ScriptedChatModel(['Hi.'], {})).prompt('?');

    for await (const event of spec.stream().events())
      if (event.type === 'iteration-start')
        expect(event).to.deep.equal({ type: 'iteration-start', index: 0 });
  });
});
