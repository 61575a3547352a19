import { expect } from 'chai';
import {
  AdvisorOrder,
  type Advisor,
  type AdvisorTrait,
} from '../../../src/core/advisor/advisor.js';
import { defineAdvisor, type AdvisorFunctions } from '../../../src/core/advisor/define-advisor.js';
import { explainChain } from '../../../src/core/advisor/explain.js';
import { ConversationLockAdvisor, ToolCallingAdvisor } from '../../../advisors/index.js';
import { ChainError, InvalidArgumentError } from '../../../src/core/errors/errors.js';

const advisor = (
  name: string,
  order: number,
  functions: Partial<AdvisorFunctions> = { before: () => undefined },
): Advisor => defineAdvisor({ name, order, ...functions });
const aroundTool: AdvisorFunctions['aroundTool'] = (call, next) => next(call);
const guard = advisor('guard', AdvisorOrder.GUARD, { before: () => undefined, aroundTool });
const retrieval = advisor('retrieval', AdvisorOrder.RETRIEVAL);
const retry = advisor('retry', AdvisorOrder.RESILIENCE, { aroundTool });
const logger: Advisor = {
  name: 'logger',
  order: AdvisorOrder.LOGGER,
  around: (request, next) => next(request),
};
const memory = (order: number): Advisor =>
  advisor('memory', order, { before: () => undefined, role: 'chat-memory' });

describe('explainChain', () => {
  it('lists advisors that run once per turn, once per iteration and around tool calls, in order', () => {
    const explanation = explainChain([logger, retry, new ToolCallingAdvisor(), retrieval, guard]);

    expect(explanation).to.deep.equal({
      oncePerTurn: ['guard', 'retrieval'],
      toolLoop: 'tool-calling',
      oncePerIteration: ['logger'],
      aroundToolCalls: ['guard', 'retry'],
      warnings: [],
    });
  });

  it('formats itself as text', () => {
    expect(String(explainChain([logger, retry, new ToolCallingAdvisor(), guard]))).to.equal(
      [
        'once per turn:      guard',
        'tool loop:          tool-calling',
        'once per iteration: logger > model',
        'around tool calls:  guard > retry',
      ].join('\n'),
    );
  });

  it('lists all advisors as once per turn without a tool loop', () => {
    const explanation = explainChain([logger, guard, retrieval]);

    expect(explanation).to.deep.include({
      oncePerTurn: ['guard', 'retrieval', 'logger'],
      toolLoop: undefined,
      oncePerIteration: [],
    });
    expect(String(explanation)).to.match(
      /^once per turn: {6}guard > retrieval > logger\nthen: {15}model\n/,
    );
  });

  it('explains an empty chain', () => {
    expect(String(explainChain([]))).to.equal('once per turn:      -\nthen:               model');
  });

  it('lists advisors right of the loop as once per iteration', () => {
    const inside = advisor('retrieval', AdvisorOrder.TOOL_CALLING + 1);

    expect(explainChain([inside, new ToolCallingAdvisor()]).oncePerIteration).to.deep.equal([
      'retrieval',
    ]);
  });

  it('sorts advisors with the order of the loop by registration', () => {
    const before = advisor('before', AdvisorOrder.TOOL_CALLING);
    const after = advisor('after', AdvisorOrder.TOOL_CALLING);

    const explanation = explainChain([before, new ToolCallingAdvisor(), after]);

    expect([explanation.oncePerTurn, explanation.oncePerIteration]).to.deep.equal([
      ['before'],
      ['after'],
    ]);
  });

  it('ignores an undefined adviseToolCall', () => {
    const plain = { ...logger, adviseToolCall: undefined } as unknown as Advisor;

    expect(explainChain([plain, new ToolCallingAdvisor()]).aroundToolCalls).to.deep.equal([]);
  });

  describe('warns', () => {
    it('about a memory inside a loop that keeps its own history', () => {
      const { warnings } = explainChain([new ToolCallingAdvisor(), memory(AdvisorOrder.LOGGER)]);

      expect(warnings).to.have.lengthOf(1);
      expect(warnings[0]).to.match(
        /^"memory" is inside the tool loop while the loop keeps its own history/,
      );
    });

    it('about a loop without history and without a memory inside', () => {
      for (const advisors of [[], [memory(AdvisorOrder.MEMORY)]]) {
        const { warnings } = explainChain([
          new ToolCallingAdvisor({ keepHistory: false }),
          ...advisors,
        ]);

        expect(warnings).to.have.lengthOf(1);
        expect(warnings[0]).to.match(/^"tool-calling" keeps no history and no memory is inside it/);
      }
    });

    it('about an advisor around tool calls without a tool loop', () => {
      const { warnings, aroundToolCalls } = explainChain([retry]);

      expect(aroundToolCalls).to.deep.equal([]);
      expect(warnings).to.deep.equal([
        '"retry" wraps tool calls, but the chain has no tool loop: it never runs; add a ToolCallingAdvisor',
      ]);
    });

    it('in its text', () => {
      expect(String(explainChain([retry]))).to.match(/\nwarning: "retry" wraps tool calls/);
    });

    it('not if memory and loop match', () => {
      expect(
        explainChain([memory(AdvisorOrder.MEMORY), new ToolCallingAdvisor()]).warnings,
      ).to.deep.equal([]);
      expect(
        explainChain([new ToolCallingAdvisor({ keepHistory: false }), memory(AdvisorOrder.LOGGER)])
          .warnings,
      ).to.deep.equal([]);
    });
  });

  it('lists the parts of an advisor at their positions', () => {
    const part = advisor('guard.output', AdvisorOrder.TOOL_CALLING + 1);

    const { oncePerTurn, oncePerIteration } = explainChain([
      { ...guard, parts: [part] },
      new ToolCallingAdvisor(),
    ]);

    expect([oncePerTurn, oncePerIteration]).to.deep.equal([['guard'], ['guard.output']]);
  });

  describe('[D70] warns of', () => {
    const HOLDS = { after: () => undefined, holdDeltas: true };
    const loop = new ToolCallingAdvisor();
    const doing = (trait: AdvisorTrait, order: number, more: Partial<AdvisorFunctions> = {}) =>
      advisor(trait, order, { before: () => undefined, traits: [trait], ...more });
    const { GUARD, MEMORY, RETRIEVAL, TOOL_CALLING, RESILIENCE, LOGGER } = AdvisorOrder;
    const fallback = doing('retries', RESILIENCE, {
      name: 'fallback',
      traits: ['retries', 'chooses-model'],
    });
    const cases: readonly (readonly [string, readonly Advisor[], readonly Advisor[], string])[] = [
      [
        'a retry left of the loop',
        [doing('retries', GUARD), loop],
        [doing('retries', RESILIENCE), loop],
        '"retries" retries left of the tool loop: finished tools run again; give it an order above TOOL_CALLING',
      ],
      [
        'retrieval inside the loop',
        [loop, doing('retrieves', TOOL_CALLING + 1)],
        [loop, doing('retrieves', RETRIEVAL)],
        '"retrieves" retrieves inside the tool loop: once per model call; give it an order below TOOL_CALLING to do it once per turn',
      ],
      [
        'memory left of an input guard',
        [memory(GUARD), doing('guards-input', MEMORY), loop],
        [doing('guards-input', GUARD), memory(MEMORY), loop],
        '"memory" is left of the input guard "guards-input": it stores what the guard refuses; give the guard a lower order',
      ],
      [
        'a guard that cannot see the stream',
        [doing('guards-output', GUARD, { after: () => undefined }), loop],
        [doing('guards-output', GUARD, { after: () => undefined, holdDeltas: true }), loop],
        '"guards-output" guards answers without holdDeltas: a stream shows them before it can refuse; set holdDeltas',
      ],
      [
        'an output guard left of the memory',
        [doing('guards-output', GUARD, HOLDS), memory(MEMORY), loop],
        [memory(MEMORY), doing('guards-output', TOOL_CALLING + 1, HOLDS), loop],
        '"guards-output" guards answers left of "memory", which stores what the guard removes; give the guard an order above MEMORY',
      ],
      [
        'a rewritten question that the memory stores',
        [doing('rewrites-question', GUARD), memory(MEMORY), loop],
        [memory(MEMORY), doing('rewrites-question', RETRIEVAL), loop],
        '"rewrites-question" rewrites the question left of "memory", which stores it rewritten; give it an order above MEMORY',
      ],
      [
        'answers whose rewriting the loop does not see',
        [doing('rewrites-answers', RETRIEVAL), loop],
        [loop, doing('rewrites-answers', LOGGER)],
        '"rewrites-answers" rewrites answers left of the tool loop: the history of the turn has them as they were; give it an order above TOOL_CALLING',
      ],
      [
        'answers whose rewriting the memory does not see',
        [doing('rewrites-answers', GUARD), memory(MEMORY)],
        [memory(MEMORY), doing('rewrites-answers', LOGGER)],
        '"rewrites-answers" rewrites answers left of "memory", which stores them as they were; give it a higher order than the memory',
      ],
      [
        'a model chosen right of a fallback',
        [loop, fallback, doing('chooses-model', LOGGER)],
        [doing('chooses-model', RETRIEVAL), loop, fallback],
        '"chooses-model" chooses the model right of "fallback", whose models are not asked; give it a lower order',
      ],
      [
        'a count left of repetitions',
        [loop, doing('counts-model-calls', TOOL_CALLING + 1), doing('retries', RESILIENCE)],
        [loop, doing('retries', RESILIENCE), doing('counts-model-calls', LOGGER)],
        '"counts-model-calls" counts model calls left of "retries", which repeats them unseen; give it a higher order',
      ],
      [
        'a count that waits in the time of a model call',
        [loop, doing('limits-model-calls', RESILIENCE), doing('counts-model-calls', LOGGER)],
        [loop, doing('counts-model-calls', RESILIENCE), doing('limits-model-calls', LOGGER)],
        '"counts-model-calls" is right of "limits-model-calls", whose timer keeps running while it waits; give it a lower order',
      ],
      [
        'a lock right of the memory',
        [memory(MEMORY), new ConversationLockAdvisor({ order: RETRIEVAL }), loop],
        [new ConversationLockAdvisor({ order: GUARD }), memory(MEMORY), loop],
        '"memory" is left of "conversation-lock": a turn reads the conversation before it has the lock; give the lock a lower order',
      ],
      [
        'a lock inside the loop',
        [loop, new ConversationLockAdvisor({ order: RESILIENCE })],
        [new ConversationLockAdvisor({ order: GUARD }), loop],
        '"conversation-lock" locks the conversation inside the tool loop: other turns run between its model calls; give it an order below TOOL_CALLING',
      ],
      [
        'two advisors that rewrite the transcript',
        [doing('rewrites-transcript', 1), doing('rewrites-transcript', 2, { name: 'other' }), loop],
        [doing('rewrites-transcript', 1), loop],
        '"rewrites-transcript" and "other" both rewrite the transcript: one changes what the other has written; keep one of them',
      ],
    ];
    for (const [hazard, wrong, right, warning] of cases)
      it(`${hazard}, and not of its remedy`, () => {
        expect(explainChain(wrong).warnings).to.deep.equal([warning]);
        expect(explainChain(right).warnings).to.deep.equal([]);
      });

    it('nothing that needs a tool loop in a chain without one', () => {
      const { warnings } = explainChain([doing('retries', GUARD), doing('retrieves', RESILIENCE)]);

      expect(warnings).to.deep.equal([]);
    });

    it('the traits of a class too, and accepts known traits only', () => {
      const named: Advisor = { ...logger, order: GUARD, traits: ['retrieves', 'retries'] };

      expect(explainChain([named, loop]).warnings).to.have.lengthOf(1);
      expect(() => explainChain([{ ...logger, traits: ['retry' as never] }])).to.throw(
        InvalidArgumentError,
        `advisor "logger": traits must be an array of 'retries', 'guards-input', 'guards-output', 'retrieves', 'rewrites-transcript', 'rewrites-question', 'rewrites-answers', 'chooses-model', 'counts-model-calls', 'limits-model-calls', 'limits-turns', 'records-tool-calls' or 'records-steps', not an array of 1`,
      );
    });
  });

  it('warns of the hazards that an advisor knows itself, by those around it', () => {
    const hazards: Advisor['hazards'] = ({ left, right, isInsideLoop }) => [
      isInsideLoop && `left ${left.length}, right ${right.length}`,
      undefined,
    ];
    const own = advisor('own', AdvisorOrder.LOGGER, { before: () => undefined, hazards });
    const first = { ...logger, name: 'first', order: 1, hazards };

    expect(explainChain([first, own, new ToolCallingAdvisor(), retry]).warnings).to.deep.equal([
      'left 3, right 0',
    ]);
    expect(() => explainChain([{ ...logger, hazards: true as never }])).to.throw(
      InvalidArgumentError,
      'advisor "logger": hazards must be a function, not true',
    );
  });

  it('rejects an invalid chain', () => {
    expect(() => explainChain([logger, logger])).to.throw(
      ChainError,
      'two advisors are named "logger"',
    );
  });
});
