import { expect } from 'chai';
import { lastValueFrom, toArray } from 'rxjs';
import {
  AdvisorOrder,
  ChatClient,
  ChatClientResponse,
  ChatResponse,
  defineAdvisor,
  defineTool,
  type Advisor,
  type Citation,
} from '../../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../../src/testing/index.js';
import { summary } from '../../support/turn.js';

const OLD: Citation = { url: 'old', raw: { url: 'old' } };
const NEW: Citation = { url: 'new', raw: { url: 'new' } };
const cited = (text: string, citation: Citation): ScriptedAnswer => ({
  text,
  citations: [citation],
});

const turn = (answers: readonly ScriptedAnswer[], ...advisors: readonly Advisor[]) =>
  ChatClient.builder(new ScriptedChatModel(answers))
    .defaultAdvisors(...advisors)
    .build()
    .prompt('hi');
const eventsOf = async (request: ReturnType<typeof turn>): Promise<readonly string[]> =>
  summary(await lastValueFrom(request.stream().events().pipe(toArray())));

describe('citations in a chain', () => {
  it('pass through advisors in order', async () => {
    const advisors = [
      defineAdvisor({ name: 'before', order: 0, before: (request) => request }),
      defineAdvisor({ name: 'after', order: 0, after: (response) => response }),
    ];

    const events = await eventsOf(turn([cited('It is.', OLD)], ...advisors));

    expect(events).to.deep.equal([
      'text-delta It ',
      'text-delta is.',
      'citation old',
      'response It is.',
    ]);
    const { citations } = await turn([cited('It is.', OLD)], ...advisors)
      .call()
      .chatResponse();
    expect(citations).to.deep.equal([OLD]);
  });

  it('are held back with the deltas, and come with the answer that was checked', async () => {
    const guard = defineAdvisor({
      name: 'guard',
      order: 0,
      holdDeltas: true,
      around: async (request, next) => (await next(request), next(request)),
    });

    const events = await eventsOf(turn([cited('a', OLD), cited('b', NEW)], guard));

    expect(events).to.deep.equal(['retract 0', 'text-delta b', 'citation new', 'response b']);
  });

  it('are void after a retraction, and follow the answer that replaces them', async () => {
    const again = defineAdvisor({
      name: 'again',
      order: 0,
      around: async (request, next) => (await next(request), next(request)),
    });
    const answers = [cited('', OLD), cited('b', NEW)];

    const events = await eventsOf(turn(answers, again));

    expect(events).to.deep.equal([
      'citation old',
      'retract 0',
      'text-delta b',
      'citation new',
      'response b',
    ]);
  });

  it('come as deltas of an answer that no model has streamed', async () => {
    const [generation] = ChatResponse.ofText('a').generations;
    const own = new ChatResponse({
      generations: generation ? [{ ...generation, citations: [OLD] }] : [],
    });
    const kept = defineAdvisor({ name: 'kept', order: 0, around: async () => own });

    const events = await eventsOf(turn([], kept));

    expect(events).to.deep.equal(['text-delta a', 'citation old', 'response a']);
  });

  const cites = (...citations: readonly Citation[]): Advisor =>
    defineAdvisor({
      name: `cites ${citations.length}`,
      order: 0,
      after: (response) => response.withCitations(...citations),
    });

  it('that an advisor adds follow the text, which is not taken back', async () => {
    const request = turn([cited('It is.', OLD)], cites(NEW));

    const events = await eventsOf(request);

    expect(events).to.deep.equal([
      'text-delta It ',
      'text-delta is.',
      'citation old',
      'citation new',
      'response It is.',
    ]);
  });

  it('that several advisors add come once each, in the order of their answers', async () => {
    const third: Citation = { url: 'third' };

    const events = await eventsOf(turn(['It.'], cites(third), cites(OLD, NEW)));
    const { citations } = await turn(['It.'], cites(third), cites(OLD, NEW)).call().chatResponse();

    expect(events).to.deep.equal([
      'text-delta It.',
      'citation old',
      'citation new',
      'citation third',
      'response It.',
    ]);
    expect(citations.map(({ url }) => url)).to.deep.equal(['old', 'new', 'third']);
  });

  it('that an advisor adds are of the iteration that they were added in', async () => {
    const look = defineTool({ name: 'look', execute: () => 'found' });
    const script = [
      { toolCalls: [{ name: 'look' }], text: 'One moment.', citations: [OLD] },
      'It is.',
    ];
    const inside = { ...cites(NEW), order: AdvisorOrder.LOGGER };

    const events = await eventsOf(turn(script, inside).tools(look));

    expect(
      events.filter((event) => /^(text|citation|iteration|response)/.test(event)),
    ).to.deep.equal([
      'text-delta One ',
      'text-delta moment.',
      'citation old',
      'citation new',
      'iteration 0 look',
      'text-delta It ',
      'text-delta is.',
      'citation new',
      'response It is.',
    ]);
  });

  it('that an advisor adds are void if the answer is given up later', async () => {
    const again = defineAdvisor({
      name: 'again',
      order: -1,
      around: async (request, next) => (await next(request), next(request)),
    });

    const events = await eventsOf(turn(['', 'b'], again, cites(NEW)));

    expect(events).to.deep.equal([
      'citation new',
      'retract 0',
      'text-delta b',
      'citation new',
      'response b',
    ]);
  });

  it('that are added keep message, usage, context and report of a response', async () => {
    const response = await turn(['It.']).call().chatClientResponse();

    const added = response.withCitations(NEW);

    expect(added).to.be.instanceOf(ChatClientResponse);
    expect([added.message, added.run, added.context]).to.deep.equal([
      response.message,
      response.run,
      response.context,
    ]);
    expect([response.citations, added.citations]).to.deep.equal([[], [NEW]]);
    expect(new ChatResponse({ generations: [] }).withCitations(NEW).citations).to.deep.equal([]);
  });
});
