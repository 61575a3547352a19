import { expect } from 'chai';
import { lastValueFrom } from 'rxjs';
import {
  ChatClient,
  defineTool,
  LoggerAdvisor,
  ModelCallError,
  ObservabilityAdvisor,
  type Advisor,
} from '../../../src/index.js';
import { ScriptedChatModel, type Script } from '../../../src/testing/index.js';
import { MODES, type Mode } from '../../support/modes.js';
import { recordMetrics } from '../../support/recorded-telemetry.js';
import { recordSpans, type Recording } from '../../support/recorded-spans.js';

const fail = (): never => {
  throw new Error('no access');
};
const withGetter = (error: Error, name: string): Error =>
  Object.defineProperty(error, name, { get: fail });
const withValue = (name: string, value: unknown): Error =>
  Object.defineProperty(new Error('x'), name, { value });

/** Errors and other thrown values whose properties cannot be trusted. */
const ERRORS: Readonly<Record<string, () => unknown>> = {
  'has an object as its message': () => withValue('message', { a: 1 }),
  'has no message': () => withValue('message', undefined),
  'throws on access to its message': () => withGetter(new Error('x'), 'message'),
  'has an object as its stack': () => withValue('stack', [{ at: 1 }]),
  'throws on access to its stack': () => withGetter(new Error('x'), 'stack'),
  'throws on access to its name': () => withGetter(new Error('x'), 'name'),
  'has a number as its name': () => withValue('name', 7),
  'throws on access to its code': () => withGetter(new ModelCallError('x'), 'code'),
  'has an object as its code': () => Object.assign(new ModelCallError('x'), { code: { a: 1 } }),
  'has an object as its status': () => Object.assign(new ModelCallError('x'), { status: { a: 1 } }),
  'throws on access to its prototype': () => new Proxy(new Error('x'), { getPrototypeOf: fail }),
  'throws on any access': () =>
    new Proxy(new Error('x'), { get: fail, has: fail, getPrototypeOf: fail, ownKeys: fail }),
  'is frozen': () => Object.freeze(new Error('x')),
  'is an object without a prototype': () => Object.create(null) as unknown,
  'is null': () => null,
  'is a symbol': () => Symbol('x'),
};

const quiet = { info: (): void => undefined };
const WATCHERS: Readonly<Record<string, (recording: Recording) => Advisor>> = {
  'spans without content': ({ tracer }) => new ObservabilityAdvisor({ tracer }),
  'spans with content': ({ tracer }) => new ObservabilityAdvisor({ tracer, captureContent: true }),
  metrics: () => new ObservabilityAdvisor({ meter: recordMetrics().meter }),
  'a log without content': () => new LoggerAdvisor({ logger: quiet }),
  'a log with content': () => new LoggerAdvisor({ logger: quiet, includeContent: true }),
};

/** The failure of a turn, wrapped because a promise that resolves with an error looks for `then`. */
async function failureOf(
  mode: Mode,
  script: Script,
  watcher: Advisor,
  thrown: unknown,
): Promise<{ readonly error: unknown }> {
  const failing = defineTool({
    name: 'failing',
    execute: () => {
      throw thrown;
    },
  });
  const spec = ChatClient.create(new ScriptedChatModel(script))
    .prompt('Hi.')
    .tools(failing)
    .advisors(watcher);
  const done =
    mode === 'call' ? spec.call().content() : lastValueFrom(spec.stream().chatResponse());
  return done.then(
    () => ({ error: 'no error' }),
    (error: unknown) => ({ error }),
  );
}

for (const mode of MODES)
  describe(`a ${mode} that fails with an unusual error`, function () {
    this.timeout(5_000);

    for (const [watching, watcher] of Object.entries(WATCHERS))
      for (const [what, make] of Object.entries(ERRORS)) {
        it(`[F100] fails with the same error when it ${what}, under ${watching}`, async () => {
          const recording = recordSpans();
          const thrown = make();
          const { error } = await failureOf(
            mode,
            [{ text: 'a', error: thrown }],
            watcher(recording),
            thrown,
          );

          expect(Object.is(error, thrown)).to.equal(true);
          expect(recording.problems).to.deep.equal([]);
          for (const { name, attributes } of recording.spans) {
            expect(attributes['advisor_chain.outcome'], name).to.equal('error');
            expect(attributes['error.type'], name).to.be.a('string');
          }
        });

        it(`continues when a tool throws an error that ${what}, under ${watching}`, async () => {
          const recording = recordSpans();
          const { error } = await failureOf(
            mode,
            [{ toolCalls: [{ name: 'failing' }] }, 'done'],
            watcher(recording),
            make(),
          );

          expect(error).to.equal('no error');
          expect(recording.problems).to.deep.equal([]);
        });
      }
  });
