import { expect } from 'chai';
import fc from 'fast-check';
import {
  ChatClientRequest,
  type ChatClientRequestFields,
} from '../../../src/core/advisor/chat-client-request.js';
import { AdvisorContext, ContextKey } from '../../../src/core/chat/context.js';
import type { Message } from '../../../src/core/chat/message.js';
import { Prompt } from '../../../src/core/chat/prompt.js';
import { InvalidArgumentError } from '../../../src/core/errors/errors.js';
import { defineTool } from '../../../src/core/tool/define-tool.js';
import { requestFor } from '../../support/runs.js';
import { sweep } from '../../support/sweep.js';

const TENANT = new ContextKey<string>('test.tenant', 'none');
const USER = new ContextKey<string>('test.user', 'none');
const tool = (name: string, deferred = false) =>
  defineTool({ name, deferred, execute: () => name });

/** Freezes plain data through and through: whatever writes into it throws. */
function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFreeze);
  }
  return value;
}

describe('ChatClientRequest', () => {
  it('has defaults for all fields but the prompt and the mode', () => {
    const request = requestFor('stream');

    expect(request).to.deep.include({
      mode: 'stream',
      tools: [],
      unlocked: [],
      toolContext: {},
      iteration: 0,
    });
    expect([...request.context.entries()]).to.deep.equal([]);
    expect(request.signal.aborted).to.equal(false);
  });

  it('[CTX-09] [CTX-10] is unchanged when a copy of it gets another value', () => {
    const request = requestFor().withContext(TENANT, 'a');

    const copy = request.withContext(TENANT, 'b').withContext(USER, 'anna');

    expect([request.context.get(TENANT), request.context.get(USER)]).to.deep.equal(['a', 'none']);
    expect([copy.context.get(TENANT), copy.context.get(USER)]).to.deep.equal(['b', 'anna']);
  });

  it('[CTX-11] [CTX-12] [CTX-13] keeps earlier values, and the last one of each key', () => {
    const request = requestFor()
      .withContext(TENANT, 'a')
      .withContext(USER, 'anna')
      .withContext(TENANT, 'b');

    expect([...request.context.entries()]).to.deep.equal([
      ['test.tenant', 'b'],
      ['test.user', 'anna'],
    ]);
  });

  it('[CTX-15] returns the same object that was set', () => {
    const key = new ContextKey<object | undefined>('test.object');
    const value = { a: 1 };

    expect(requestFor().withContext(key, value).context.get(key)).to.equal(value);
  });

  for (const [fields, message] of [
    [{ mode: 'call' }, 'prompt must be a Prompt, not undefined'],
    [{ prompt: 'Hi.', mode: 'call' }, 'prompt must be a Prompt, not "Hi."'],
    [{ prompt: new Prompt('Hi.') }, "mode must be 'call' or 'stream', not undefined"],
    [
      { prompt: new Prompt('Hi.'), mode: 'call', context: null },
      'context must be an AdvisorContext, not null',
    ],
    [
      { prompt: new Prompt('Hi.'), mode: 'call', context: {} },
      'context must be an AdvisorContext, not an object',
    ],
  ] as const) {
    it(`[CTX-08] rejects: ${message}`, () => {
      expect(() => new ChatClientRequest(fields as unknown as ChatClientRequestFields)).to.throw(
        InvalidArgumentError,
        `ChatClientRequest: ${message}`,
      );
    });
  }

  it('[CTX-08] rejects a value without a key', () => {
    expect(() =>
      requestFor().withContext(undefined as unknown as ContextKey<string>, 'x'),
    ).to.throw(InvalidArgumentError, 'ContextKey');
    expect(() => requestFor().withContext('tenant' as unknown as ContextKey<string>, 'x')).to.throw(
      InvalidArgumentError,
      'ContextKey',
    );
  });

  it('changes one field and keeps all others', () => {
    const signal = new AbortController().signal;
    const full = new ChatClientRequest({
      prompt: new Prompt('Hi.', { seed: 1 }),
      mode: 'stream',
      tools: [tool('a')],
      unlocked: ['x'],
      toolContext: { tenant: 1 },
      context: AdvisorContext.empty.with(TENANT, 'a'),
      iteration: 3,
      signal,
    });
    const fields = ({
      prompt,
      mode,
      tools,
      unlocked,
      toolContext,
      context,
      iteration,
      turnId,
      signal: own,
    }: ChatClientRequest) => ({
      prompt,
      mode,
      tools,
      unlocked,
      toolContext,
      context,
      iteration,
      turnId,
      signal: own,
    });

    const changes: readonly [Exclude<keyof ChatClientRequestFields, 'model'>, ChatClientRequest][] =
      [
        ['prompt', full.withPrompt(new Prompt('Ho.'))],
        ['prompt', full.withMessages([{ role: 'user', content: 'Ho.' }])],
        ['prompt', full.withOptions({ seed: 2 })],
        ['tools', full.withTools([tool('b')])],
        ['toolContext', full.withToolContext({ user: 2 })],
        ['context', full.withContext(TENANT, 'b')],
        ['signal', full.withSignal(new AbortController().signal)],
        ['iteration', full.with({ iteration: 4 })],
        ['turnId', full.with({ turnId: 'another' })],
        ['mode', full.with({ mode: 'call' })],
      ];

    for (const [changed, copy] of changes) {
      const { [changed]: before, ...others } = fields(full);
      const { [changed]: after, ...copied } = fields(copy);
      expect(after, changed).not.to.equal(before);
      expect(copied, changed).to.deep.equal(others);
    }
  });

  it('merges options on top of its own', () => {
    const request = requestFor().withOptions({ seed: 1, temperature: 0 }).withOptions({ seed: 2 });

    expect(request.prompt.options).to.deep.equal({ seed: 2, temperature: 0 });
  });

  it('adds tools and tool context of the options to its own', () => {
    const request = requestFor('call', { tools: [tool('a')], toolContext: { tenant: 1 } });

    const copy = request.withOptions({ tools: [tool('b')], toolContext: { user: 2 } });

    expect(copy.tools.map(({ definition }) => definition.name)).to.deep.equal(['a', 'b']);
    expect(copy.toolContext).to.deep.equal({ tenant: 1, user: 2 });
    expect(copy.prompt.options).to.deep.equal({});
  });

  it('rejects unknown options', () => {
    expect(() => requestFor().withOptions({ temprature: 1 } as object)).to.throw(
      InvalidArgumentError,
      'withOptions(…): there is no option `temprature`; did you mean `temperature`?',
    );
  });

  it('merges tool context on top of its own', () => {
    expect(
      requestFor('call', { toolContext: { a: 1, b: 1 } }).withToolContext({ b: 2 }).toolContext,
    ).to.deep.equal({ a: 1, b: 2 });
  });

  it('offers all tools that are not deferred', () => {
    const request = requestFor('call', { tools: [tool('a'), tool('b', true), tool('c')] });

    expect(request.offeredTools.map(({ definition }) => definition.name)).to.deep.equal(['a', 'c']);
  });

  it('offers unlocked tools after the others, in order of discovery', () => {
    const tools = [tool('a', true), tool('b'), tool('c', true), tool('d', true)];

    const request = requestFor('call', { tools, unlocked: ['d', 'nonsense', 'a', 'b'] });

    expect(request.offeredTools.map(({ definition }) => definition.name)).to.deep.equal([
      'b',
      'd',
      'a',
    ]);
  });

  it('[F12] never offers an unlocked tool that it does not have', () => {
    const names = ['a', 'b', 'constructor', '__proto__', 'toString'];
    fc.assert(
      fc.property(
        fc.subarray(names),
        fc.array(fc.constantFrom(...names, 'A', ' a')),
        (owned, unlocked) => {
          const tools = owned.map((name, at) => ({
            ...tool('x', at % 2 === 0),
            definition: { ...tool('x').definition, name },
          }));

          const offered = requestFor('call', { tools, unlocked }).offeredTools;

          expect(new Set(offered).size).to.equal(offered.length);
          for (const one of offered) expect(tools).to.include(one);
        },
      ),
      { numRuns: sweep(2_000) },
    );
  });

  it('[F76] never modifies its arguments', () => {
    const messages = deepFreeze<Message[]>([
      { role: 'user', content: [{ type: 'text', text: 'Hi.' }], metadata: { a: { b: 1 } } },
    ]);
    const options = deepFreeze({ extraBody: { a: { b: 1 } }, metadata: { a: 'b' } });
    const toolContext = deepFreeze({ tenant: { id: 1 } });
    const request = Object.freeze(
      requestFor('call', { prompt: new Prompt(messages, options), toolContext }),
    );

    const copy = request
      .withOptions({ extraBody: { c: 1 }, stopSequences: ['x'] })
      .withToolContext({ user: 1 })
      .withContext(TENANT, 'a')
      .withMessages([...messages, { role: 'user', content: 'More.' }])
      .with({ iteration: 1 });

    expect(copy.prompt.messages).to.have.lengthOf(2);
    expect(request.prompt.messages).to.deep.equal(messages);
  });

  it('aborts with its signal, also in copies', () => {
    const controller = new AbortController();
    const request = requestFor('call', { signal: controller.signal });
    const reasons: unknown[] = [];
    request.withOptions({ seed: 1 }).cancellation.onCancel((reason) => reasons.push(reason));

    controller.abort('enough');

    expect(request.with({ iteration: 1 }).signal.aborted).to.equal(true);
    expect(reasons).to.deep.equal(['enough']);
  });

  it('keeps the backpressure of the run with another signal', () => {
    const ready = (): undefined => undefined;
    const cancellation = {
      signal: new AbortController().signal,
      cancelled: false,
      onCancel: () => () => undefined,
      ready,
    };
    const request = new ChatClientRequest({
      prompt: new Prompt('Hi.'),
      mode: 'stream',
      cancellation,
    });

    expect(request.withSignal(new AbortController().signal).cancellation.ready).to.equal(ready);
  });
});
