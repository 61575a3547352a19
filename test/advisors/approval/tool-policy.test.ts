import { expect } from 'chai';
import { ApprovalAdvisor, InvalidArgumentError, type ToolPolicy } from '../../../src/index.js';
import { approvalTurn, Remover, resultsOf, rm } from '../../support/approval.js';
import { failureOf } from '../../support/modes.js';

const ask = (): never => {
  throw new Error('must not be asked');
};

describe('the policy of an ApprovalAdvisor', () => {
  for (const [options, message] of [
    [{ policy: 'allow' }, 'policy must be a function or an object of rules'],
    [{ policy: { rm: 'maybe' } }, `policy["rm"] must be 'allow', 'ask', 'deny' or an object`],
    [{ policy: { rm: { type: 'edit' } } }, 'policy["rm"].arguments must be an object'],
    [{ policy: { rm: { type: 'ask', prompt: '' } } }, 'policy["rm"].prompt must be a non-blank'],
    [
      { policy: { rm: { type: 'ask', details: { size: 5n } } } },
      'policy["rm"].details must be JSON data',
    ],
    [{ effects: { write: null } }, "effects.write must be 'allow', 'ask' or 'deny'"],
    [{ effects: { read: 'edit' } }, "effects.read must be 'allow', 'ask' or 'deny'"],
    [{ decide: 'yes' }, 'decide must be a function'],
    [{ store: {} }, 'store must be a KeyValueStore'],
    [{ remember: 'arguments' }, "remember must be 'call' or 'tool'"],
    [{ timeout: 0 }, 'timeout must be a number of milliseconds > 0'],
    [{ ttl: 0 }, 'ttl must be a number > 0'],
  ] as const)
    it(`rejects options: ${message}`, () => {
      expect(() => new ApprovalAdvisor(options as never)).to.throw(
        InvalidArgumentError,
        `ApprovalAdvisor: ${message}`,
      );
    });

  for (const [effect, isAsked] of [
    ['read', false],
    ['idempotent', true],
    ['write', true],
    [undefined, true],
  ] as const)
    it(`by default ${isAsked ? 'asks about' : 'allows'} a call with the effect ${effect}`, async () => {
      const remover = new Remover(effect ?? ('' as never));
      let asked = 0;
      const { spec } = approvalTurn({
        tools: [remover.tool],
        answers: [rm('a'), 'Done.'],
        options: {
          decide: () => {
            asked++;
            return { type: 'allow' };
          },
        },
      });

      await spec.call().content();

      expect([asked, remover.removed]).to.deep.equal([isAsked ? 1 : 0, ['a']]);
    });

  for (const effect of ['idempotent', 'write'] as const)
    it(`asks about ${effect} calls, too, if the verdict on them is undefined`, async () => {
      const remover = new Remover(effect);
      const { spec } = approvalTurn({
        tools: [remover.tool],
        answers: [rm('a'), 'Done.'],
        options: { effects: { [effect]: undefined } as never, decide: () => ({ type: 'deny' }) },
      });

      await spec.call().content();

      expect(remover.removed).to.deep.equal([]);
    });

  const cases: readonly (readonly [
    what: string,
    policy: ToolPolicy,
    removed: readonly string[],
  ])[] = [
    ['an exact name before a pattern', { 'r*': 'deny', rm: 'allow' }, ['a']],
    ['the first pattern that matches', { 'r*': 'allow', '*': 'deny' }, ['a']],
    ['a pattern with characters of regular expressions', { 'r.*': 'allow', '*': 'deny' }, []],
    ['a function', () => 'allow', ['a']],
    ['an async function', async () => ({ type: 'allow' }), ['a']],
    ['a function by name', { rm: ({ arguments: args }) => (args ? 'allow' : 'deny') }, ['a']],
  ];
  for (const [what, policy, removed] of cases)
    it(`decides by ${what}`, async () => {
      const remover = new Remover();
      const { spec } = approvalTurn({
        tools: [remover.tool],
        answers: [rm('a'), 'Done.'],
        options: { policy, decide: ask },
      });

      await spec.call().content();

      expect(remover.removed).to.deep.equal(removed);
    });

  it('leaves a call to its effect if the function returns undefined', async () => {
    const remover = new Remover('read');
    const { spec } = approvalTurn({
      tools: [remover.tool],
      answers: [rm('a'), 'Done.'],
      options: { policy: () => undefined, decide: ask },
    });

    await spec.call().content();

    expect(remover.removed).to.deep.equal(['a']);
  });

  it('takes verdicts by effect', async () => {
    const remover = new Remover('idempotent');
    const { spec } = approvalTurn({
      tools: [remover.tool],
      answers: [rm('a'), 'Done.'],
      options: { effects: { idempotent: 'allow' }, decide: ask },
    });

    await spec.call().content();

    expect(remover.removed).to.deep.equal(['a']);
  });

  it('denies a call with a reason, which the model reads', async () => {
    const remover = new Remover();
    const { spec, model } = approvalTurn({
      tools: [remover.tool],
      answers: [rm('/etc'), 'I may not.'],
      options: { policy: { rm: { type: 'deny', reason: 'Not outside of /tmp.' } } },
    });

    const text = await spec.call().content();

    expect(text).to.equal('I may not.');
    expect(remover.removed).to.deep.equal([]);
    expect(resultsOf(model)).to.deep.equal([
      'Not run: the policy denied this call of "rm". Reason: Not outside of /tmp.',
    ]);
  });

  it('edits arguments, checked by the schema of the tool', async () => {
    const remover = new Remover();
    const { spec } = approvalTurn({
      tools: [remover.tool],
      answers: [rm('a'), 'Done.'],
      options: { policy: { rm: { type: 'edit', arguments: { path: 'tmp/a' } } } },
    });

    await spec.call().content();

    expect(remover.removed).to.deep.equal(['tmp/a']);
  });

  const broken: readonly (readonly [what: string, policy: ToolPolicy, message: string])[] = [
    ['throws', () => ask(), 'the policy failed: must not be asked'],
    ['rejects', () => Promise.reject(new Error('down')), 'the policy failed: down'],
    ['returns null', (() => null) as never, "must be 'allow', 'ask', 'deny' or an object"],
    ['returns true', (() => true) as never, "must be 'allow', 'ask', 'deny' or an object"],
    ['returns another word', (() => 'approve') as never, 'not "approve"'],
    ['edits to invalid arguments', { rm: { type: 'edit', arguments: { dir: 'a' } } }, 'not valid'],
    [
      'returns details that are no data',
      () => ({ type: 'ask', details: new Date() as never }),
      'must be JSON data',
    ],
  ];
  for (const [what, policy, message] of broken)
    it(`[N9] ends the turn, and does not run the tool, if it ${what}`, async () => {
      const remover = new Remover();
      const { spec } = approvalTurn({
        tools: [remover.tool],
        answers: [rm('a'), 'Done.'],
        options: { policy, decide: () => ({ type: 'allow' }) },
      });

      const error = await failureOf(spec.call().content());

      expect(error).to.include({ code: 'approval', toolName: 'rm', callId: 'c0' });
      expect((error as Error).message).to.include(message);
      expect(remover.removed).to.deep.equal([]);
    });
});
