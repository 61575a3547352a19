import { expect } from 'chai';
import { lastValueFrom, toArray } from 'rxjs';
import {
  ChatClient,
  ChatResponse,
  defineAdvisor,
  type Advisor,
  type Citation,
} from '../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../src/testing/index.js';
import { summary } from '../support/turn.js';

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
});
