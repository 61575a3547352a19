import { expect } from 'chai';
import { AdvisorOrder, type Advisor } from '../../src/advisor/advisor.js';
import { defineAdvisor, type AdvisorFunctions } from '../../src/advisor/define-advisor.js';
import { explainChain } from '../../src/advisor/explain.js';
import { ToolCallingAdvisor } from '../../advisors/index.js';
import { ChainError } from '../../src/errors.js';

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
        '"retry" wraps tool calls, but the chain has no tool loop: it never runs',
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

  it('rejects an invalid chain', () => {
    expect(() => explainChain([logger, logger])).to.throw(
      ChainError,
      'two advisors are named "logger"',
    );
  });
});
