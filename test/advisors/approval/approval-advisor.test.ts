import { expect } from 'chai';
import { map, NEVER, of, throwError, timer } from 'rxjs';
import {
  AdvisorOrder,
  ApprovalAdvisor,
  ChatClient,
  defineAdvisor,
  defineTool,
  type ApprovalRequest,
  type Decide,
  type Decision,
  type PendingRequest,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import {
  approvalsOf,
  approvalTurn,
  pathOf,
  Remover,
  resultsOf,
  rm,
} from '../../support/approval.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';
import { deferred } from '../../support/promises.js';

const eventsOf = async (spec: ReturnType<typeof approvalTurn>['spec']) => {
  const events = [];
  for await (const event of spec.stream().events()) events.push(event);
  return events;
};

describe('ApprovalAdvisor', () => {
  it('shows a person the call: checked arguments, raw text, risk, effect and fingerprint', async () => {
    const remover = new Remover();
    const asked: PendingRequest[] = [];
    const { spec } = approvalTurn({
      tools: [remover.tool],
      answers: [{ toolCalls: [{ id: 'c0', name: 'rm', arguments: '{ "path": "a" }' }] }, 'Done.'],
      options: {
        policy: { rm: { type: 'ask', prompt: 'Remove it?', risk: 'high', details: { n: 1 } } },
        decide: (request) => {
          asked.push(request);
          return { type: 'allow' };
        },
      },
    });

    await spec.call().content();

    const [{ id, fingerprint, ...shown }] = asked as [ApprovalRequest];
    expect(shown).to.deep.equal({
      type: 'approval',
      toolName: 'rm',
      callId: 'c0',
      arguments: { path: 'a' },
      argumentsText: '{ "path": "a" }',
      prompt: 'Remove it?',
      risk: 'high',
      details: { n: 1 },
      effect: 'write',
      scopes: ['once'],
    });
    expect(id).to.match(/^0\.c0\.[\da-f]{24}$/);
    expect(fingerprint).to.match(/^[\da-f]{64}$/);
  });

  for (const mode of MODES) {
    it(`${mode}: runs an allowed call, and answers a denied one with the reason`, async () => {
      const remover = new Remover();
      const { spec, model } = approvalTurn({
        tools: [remover.tool],
        answers: [rm('a', 'b'), 'Done.'],
        options: {
          decide: (request) =>
            pathOf(request) === 'a'
              ? { type: 'allow' }
              : { type: 'deny', reason: 'It is still needed.' },
        },
      });

      const { text } = await runSpec(mode, spec);

      expect(text).to.equal('Done.');
      expect(remover.removed).to.deep.equal(['a']);
      expect(resultsOf(model)).to.deep.equal([
        'removed a',
        'Not run: the user denied this call of "rm". Reason: It is still needed.',
      ]);
    });

    it(`${mode}: emits the question and the decision`, async () => {
      const remover = new Remover();
      const events: unknown[] = [];
      const { spec } = approvalTurn({
        tools: [remover.tool],
        answers: [rm('a'), 'Done.'],
        options: { decide: () => ({ type: 'allow', by: 'anna' }) },
      });
      const watching = defineAdvisor({
        name: 'watch',
        order: AdvisorOrder.GUARD,
        onEvent: (event) => void events.push(event),
      });

      await runSpec(mode, spec.advisors(watching));

      const [asked, decided] = approvalsOf(events as never);
      expect(asked).to.include({ state: 'asked' });
      expect(decided).to.deep.include({
        state: 'decided',
        decision: { type: 'allow', by: 'anna' },
      });
    });
  }

  const decides: readonly (readonly [what: string, decide: Decide])[] = [
    ['a value', () => ({ type: 'allow' })],
    ['a promise', async () => ({ type: 'allow' })],
    [
      'an Observable, whose first value counts',
      () => of<Decision[]>({ type: 'allow' }, { type: 'deny' }),
    ],
    ['a later value', () => timer(1).pipe(map((): Decision => ({ type: 'allow' })))],
  ];
  for (const [what, decide] of decides)
    it(`takes ${what} as the decision`, async () => {
      const remover = new Remover();
      const { spec } = approvalTurn({
        tools: [remover.tool],
        answers: [rm('a'), 'Done.'],
        options: { decide },
      });

      await spec.call().content();

      expect(remover.removed).to.deep.equal(['a']);
    });

  const broken: readonly (readonly [what: string, decide: Decide])[] = [
    ['throws', () => { throw new Error('down'); }], // prettier-ignore
    ['rejects', () => Promise.reject(new Error('down'))],
    ['fails', () => throwError(() => new Error('down'))],
    ['ends without a value', () => of()],
    ['returns nothing', (() => undefined) as never],
    ['returns true', (() => true) as never],
    ['returns an unknown type', (() => ({ type: 'yes' })) as never],
    ['edits without arguments', (() => ({ type: 'edit' })) as never],
    ['answers in place of deciding, again and again', () => ({ type: 'answer', value: 1 })],
    ['allows for a scope that was not offered, again and again', () => ({ type: 'allow', scope: 'always' })], // prettier-ignore
  ];
  for (const [what, decide] of broken)
    it(`does not run the call if decide ${what}`, async () => {
      const remover = new Remover();
      const { spec } = approvalTurn({
        tools: [remover.tool],
        answers: [rm('a'), 'Done.'],
        options: { decide },
      });

      const error = await failureOf(spec.call().content());

      expect(error).to.include({ code: 'approval', toolName: 'rm' });
      expect(remover.removed).to.deep.equal([]);
    });

  it('does not run the call if no person can be asked', async () => {
    const remover = new Remover();
    const options = { decide: 'elsewhere' } as const;
    const { spec } = approvalTurn({ tools: [remover.tool], answers: [rm('a'), 'Done.'], options });

    const error = await failureOf(spec.call().content());

    expect(error).to.include({ code: 'approval' });
    expect((error as Error).message).to.include('no person to ask');
    expect(remover.removed).to.deep.equal([]);
  });

  it('ends the question when the turn is cancelled', async () => {
    const remover = new Remover();
    const controller = new AbortController();
    const asked = deferred<AbortSignal>();
    const { spec } = approvalTurn({
      tools: [remover.tool],
      answers: [rm('a'), 'Done.'],
      options: {
        decide: (_, { signal }) => {
          asked.resolve(signal);
          return NEVER;
        },
      },
    });

    const failed = failureOf(spec.signal(controller.signal).call().content());
    const signal = await asked.promise;
    controller.abort();

    expect(await failed).to.include({ code: 'cancelled' });
    expect([signal.aborted, remover.removed]).to.deep.equal([true, []]);
  });

  it('asks again with the problem if the edited arguments do not fit the schema', async () => {
    const remover = new Remover();
    const problems: (string | undefined)[] = [];
    const { spec } = approvalTurn({
      tools: [remover.tool],
      answers: [rm('a'), 'Done.'],
      options: {
        decide: (request) => {
          problems.push(request.problem);
          return { type: 'edit', arguments: request.problem ? { path: 'b' } : { dir: 'b' } };
        },
      },
    });

    await spec.call().content();

    expect(problems).to.have.length(2);
    expect(problems[0]).to.equal(undefined);
    expect(problems[1]).to.match(/^The arguments of "rm" are not valid: /);
    expect(remover.removed).to.deep.equal(['b']);
  });

  it('asks about a call whose arguments an advisor right of its question has changed', async () => {
    const remover = new Remover();
    const asked: string[] = [];
    const { spec } = approvalTurn({
      tools: [remover.tool],
      answers: [rm('a'), 'Done.'],
      options: {
        decide: (request) => {
          asked.push(pathOf(request));
          return { type: 'allow' };
        },
      },
    });
    const changing = defineAdvisor({
      name: 'change',
      order: AdvisorOrder.GUARD,
      aroundTool: (call, next) => next({ ...call, arguments: { path: 'other' } }),
    });

    await spec.advisors(changing).call().content();

    expect(asked).to.deep.equal(['a', 'other']);
    expect(remover.removed).to.deep.equal(['other']);
  });

  it('does not ask again about a call that was denied in the turn', async () => {
    const remover = new Remover();
    let asked = 0;
    const { spec, model } = approvalTurn({
      tools: [remover.tool],
      answers: [rm('a'), rm('a'), 'Done.'],
      options: {
        decide: () => {
          asked++;
          return { type: 'deny' };
        },
      },
    });

    await spec.call().content();

    expect(asked).to.equal(1);
    expect(resultsOf(model)).to.have.length(2);
    expect(remover.removed).to.deep.equal([]);
  });

  it('a model that repeats a denied call is stopped by the tool loop', async () => {
    const remover = new Remover();
    let asked = 0;
    const model = new ScriptedChatModel(({ options }) =>
      options.tools?.length ? rm('a') : 'I give up.',
    );
    const decide: Decide = () => {
      asked++;
      return { type: 'deny' };
    };
    const client = ChatClient.builder(model)
      .defaultAdvisors(new ApprovalAdvisor({ decide }))
      .build();

    const response = await client.prompt('?').tools(remover.tool).call().chatResponse();

    expect([response.text, asked, remover.removed]).to.deep.equal(['I give up.', 1, []]);
    expect(model.prompts.length).to.be.lessThan(10);
  });

  it('shows a call that waits for another call of its tool, too', async () => {
    const remover = new Remover();
    const opened = deferred<Decision>();
    const both = deferred<void>();
    let asked = 0;
    const { spec } = approvalTurn({
      tools: [remover.tool],
      answers: [rm('a', 'b'), 'Done.'],
      options: {
        decide: () => {
          if (++asked === 2) both.resolve();
          return opened.promise;
        },
      },
    });

    const answered = spec.call().content();
    await both.promise;
    opened.resolve({ type: 'allow' });
    await answered;

    expect(remover.removed).to.deep.equal(['a', 'b']);
  });

  it('a call that waits for a person takes no place of those that run', async () => {
    const remover = new Remover();
    const opened = deferred<Decision>();
    const read = defineTool({
      name: 'read',
      effect: 'read',
      execute: () => {
        opened.resolve({ type: 'allow' });
        return 'read';
      },
    });
    const pending = Array.from({ length: 20 }, (_, at) => ({
      id: `c${at}`,
      name: 'rm',
      arguments: { path: `${at}` },
    }));
    const { spec } = approvalTurn({
      tools: [remover.tool, read],
      answers: [{ toolCalls: [...pending, { id: 'r', name: 'read' }] }, 'Done.'],
      options: { decide: () => opened.promise },
    });

    await spec.call().content();

    expect(remover.removed).to.have.length(20);
  });

  it('shows that a text has invisible characters', async () => {
    const remover = new Remover();
    const asked: PendingRequest[] = [];
    const { spec } = approvalTurn({
      tools: [remover.tool],
      answers: [rm('tmp/\u202Eetc'), 'Done.'],
      options: {
        decide: (request) => {
          asked.push(request);
          return { type: 'deny' };
        },
      },
    });

    await spec.call().content();

    expect(asked[0]).to.include({ hiddenText: 'U+202E' });
  });

  it('emits the events of its calls in their order', async () => {
    const remover = new Remover();
    const { spec } = approvalTurn({
      tools: [remover.tool],
      answers: [rm('a'), 'Done.'],
      options: { decide: () => ({ type: 'allow' }) },
    });

    const events = await eventsOf(spec);
    const types = events.map(({ type }) => type).filter((type) => /^(tool-(call|result)|custom)$/.test(type)); // prettier-ignore

    expect(types).to.deep.equal(['custom', 'custom', 'tool-call', 'tool-result']);
  });

  it('warns of an advisor that answers calls left of it', () => {
    const cache = defineAdvisor({
      name: 'cache',
      order: AdvisorOrder.GUARD,
      traits: ['records-tool-calls'],
      aroundTool: (call, next) => next(call),
    });
    const client = ChatClient.builder(new ScriptedChatModel([]))
      .defaultAdvisors(cache, new ApprovalAdvisor({ decide: 'elsewhere' }))
      .build();

    expect(client.explain().warnings.join()).to.include('"cache" is left of "approval"');
  });
});
