import { expect } from 'chai';
import {
  AdvisorOrder,
  ApprovalAdvisor,
  ChatClient,
  DurableAdvisor,
  InMemoryDurableEngine,
  InMemoryKeyValueStore,
  ModelCallError,
  RetryAdvisor,
  agentTool,
  defineAdvisor,
  defineTool,
  type Advisor,
  type ChatEvent,
  type ChatResponse,
  type DurableEngine,
  type PausedTurn,
  type PromptSpec,
  type Tool,
} from '../../src/index.js';
import { approveAll, collect, ScriptedChatModel, type Script } from '../../src/testing/index.js';
import { KilledEngine } from '../support/durable.js';
import { failureOf, MODES, runSpec } from '../support/modes.js';
import { SECRET } from '../support/paused-turns.js';

declare module '../../src/core/chat/chat-event.js' {
  interface CustomEvents {
    noted: { readonly iteration: number };
  }
}

const look = defineTool({ name: 'look', effect: 'read', execute: () => 'seen' });
const pay = defineTool({
  name: 'pay',
  effect: 'write',
  execute: (_, { progress }) => {
    progress('half');
    return 'paid';
  },
});
const BUSY = new ModelCallError('busy', { retryable: true, status: 503 });
/** A failure in mid-text, an unknown tool, a question to a person, and the answer. */
const ANSWERS = [
  { text: 'Let me', error: BUSY },
  {
    text: 'Let me see.',
    reasoning: 'Which one?',
    citations: [{ url: 'https://a.example' }],
    toolCalls: [
      { id: 'c1', name: 'look' },
      { id: 'c2', name: 'fly' },
    ],
  },
  { text: 'I pay.', toolCalls: [{ id: 'c3', name: 'pay' }] },
  { text: 'Paid.' },
];
/** Emits an event before each model call. */
const noting: Advisor = defineAdvisor({
  name: 'noting',
  order: AdvisorOrder.TOOL_CALLING + 1,
  around: (request, next, { emit }) => {
    emit({ type: 'custom', name: 'noted', data: { iteration: request.iteration } });
    return next(request);
  },
});
const common = [noting, new RetryAdvisor({ firstDelay: 0 })];

function clientOf(script: Script, advisors: readonly Advisor[], ...tools: readonly Tool[]) {
  return ChatClient.builder(new ScriptedChatModel(script))
    .defaultTools(look, pay, ...tools)
    .defaultAdvisors(...common, ...advisors)
    .build();
}

const eventsOf = async (spec: PromptSpec): Promise<readonly ChatEvent[]> =>
  (await collect(spec.stream())).events;

async function pausedBy(run: Promise<ChatResponse>): Promise<PausedTurn> {
  const { paused } = await run;
  if (!paused) throw new Error('the turn has not paused');
  return paused;
}

const LOOK = { toolCalls: [{ id: 'c5', name: 'look' }] };
const ASK = { toolCalls: [{ id: 'c6', name: 'agent', arguments: { message: 'Look.' } }] };

function durableTurn(engine: DurableEngine, script: Script): PromptSpec {
  const approval = new ApprovalAdvisor({ decide: () => ({ type: 'allow' }) });
  const client = clientOf(script, [new DurableAdvisor({ engine }), approval]);
  return client.prompt('Pay.').turnId('turn');
}

/** A durable turn with an agent whose turn has recorded steps of its own. */
function agentTurn(engine: DurableEngine, ofAgent: Script, script: Script): PromptSpec {
  const client = clientOf(ofAgent, [new DurableAdvisor({ engine: () => undefined })]);
  const agent = agentTool(client, { name: 'agent', description: 'Looks.' });
  return clientOf(script, [new DurableAdvisor({ engine })], agent)
    .prompt('Look.')
    .turnId('turn');
}

/** A name for each event; of an event of an agent, its own. */
function nameOf(event: ChatEvent): string {
  if (event.type === 'tool-progress' && event.toolName === 'agent')
    return `agent: ${nameOf(event.data as ChatEvent)}`;
  if (event.type !== 'custom') return event.type;
  return event.name === 'tool-approval' ? event.data.state : event.name;
}

const isMarked = (event: ChatEvent): boolean => 'isReplayed' in event && event.isReplayed === true;

/**
 * The name of the first live event: all events before it are marked, none after it, except for calls
 * of a recorded answer that had waited.
 */
function firstLiveOf(events: readonly ChatEvent[]): string | undefined {
  const at = events.findIndex((event) => !('isReplayed' in event));
  const live = events.slice(at).filter(({ type }) => type !== 'tool-call');
  expect(events.slice(0, at).every(isMarked)).to.equal(true);
  expect(live.filter((event) => 'isReplayed' in event)).to.deep.equal([]);
  return nameOf(events[at] as ChatEvent);
}

/** The names of the repeated events, each once. */
const repeatedIn = (events: readonly ChatEvent[]): readonly string[] =>
  [...new Set(events.filter(isMarked).map(nameOf))].toSorted();

const REPEATED = [
  'asked',
  'citation',
  'iteration',
  'iteration-start',
  'noted',
  'reasoning-delta',
  'step',
  'text-delta',
  'tool-call',
  'tool-call-delta',
  'tool-result',
];

for (const mode of MODES) {
  // a call has shown no text of the model that failed
  const repeated = [...REPEATED, ...(mode === 'stream' ? ['retract'] : [])].toSorted();

  describe(`repeated events of a turn that began with ${mode}`, () => {
    it('have their mark until the decision on a paused turn, or up to the next pause', async () => {
      const store = new InMemoryKeyValueStore();
      const approval = new ApprovalAdvisor({ pause: { secrets: SECRET, store } });
      const again = { text: 'Once more.', toolCalls: [{ id: 'c4', name: 'pay' }] };
      const client = clientOf([...ANSWERS.slice(0, 3), again, 'Paid.'], [approval]);
      const first = await pausedBy(runSpec(mode, client.prompt('Pay.')));

      const second = await collect(client.resume(first.state, approveAll(first)).stream());
      const next = await pausedBy(Promise.resolve(second.response));
      const third = await collect(client.resume(next.state, approveAll(next)).stream());

      expect(firstLiveOf(second.events)).to.equal('decided');
      expect(repeatedIn(second.events)).to.deep.equal(repeated);
      expect(firstLiveOf(third.events)).to.equal('decided');
      expect(repeatedIn(third.events)).to.deep.equal([...repeated, 'decided'].toSorted());
      expect(third.response.text).to.equal('Paid.');
    });

    it('have their mark until a durable turn is where it was killed', async () => {
      const engine = new KilledEngine([], { at: 'model 2', place: 'before' });
      await failureOf(runSpec(mode, durableTurn(engine, ANSWERS)));

      const again = new InMemoryDurableEngine(engine.inner.entries());
      const second = await eventsOf(durableTurn(again, ANSWERS.slice(3)));
      const third = await eventsOf(durableTurn(new InMemoryDurableEngine(again.entries()), []));

      expect(firstLiveOf(second)).to.equal('iteration-start');
      expect(repeatedIn(second)).to.deep.equal([...repeated, 'decided'].toSorted());
      expect(firstLiveOf(third)).to.equal('response');
    });

    it('have their mark until a tool runs that was killed', async () => {
      const engine = new KilledEngine([], { at: 'tool pay c3 begin', place: 'before' });
      await failureOf(runSpec(mode, durableTurn(engine, ANSWERS)));

      const again = new InMemoryDurableEngine(engine.inner.entries());
      const events = await eventsOf(durableTurn(again, ANSWERS.slice(3)));

      expect(firstLiveOf(events)).to.equal('tool-start');
    });

    it('have their mark until the turn of an agent is where it was killed', async () => {
      const engine = new KilledEngine([], { at: 'tool agent c6/model 1', place: 'before' });
      await failureOf(runSpec(mode, agentTurn(engine, [LOOK, 'Seen.'], [ASK, 'It was seen.'])));

      const again = new InMemoryDurableEngine(engine.inner.entries());
      const second = await eventsOf(agentTurn(again, ['Seen.'], ['It was seen.']));
      const third = await eventsOf(agentTurn(new InMemoryDurableEngine(again.entries()), [], []));

      expect(firstLiveOf(second)).to.equal('agent: iteration-start');
      expect(firstLiveOf(third)).to.equal('response');
    });
  });
}

describe('the text of a turn that is resumed', () => {
  it('begins with the recorded texts', async () => {
    const store = new InMemoryKeyValueStore();
    const approval = new ApprovalAdvisor({ pause: { secrets: SECRET, store } });
    const client = clientOf(ANSWERS, [approval]);
    const first = await pausedBy(runSpec('stream', client.prompt('Pay.')));
    let text = '';

    for await (const piece of client.resume(first.state, approveAll(first)).stream()) text += piece;

    expect(text).to.equal('Let me see.\n\nI pay.\n\nPaid.');
  });
});

describe('events of a turn that is not repeated', () => {
  it('have no field for it', async () => {
    const engine = new InMemoryDurableEngine();

    const events = await eventsOf(durableTurn(engine, ANSWERS));

    expect(events.filter((event) => 'isReplayed' in event)).to.deep.equal([]);
  });
});
