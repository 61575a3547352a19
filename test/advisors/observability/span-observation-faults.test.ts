import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { expect } from 'chai';
import { lastValueFrom } from 'rxjs';
import {
  AdvisorOrder,
  ChatClient,
  ChatResponse,
  defineAdvisor,
  defineTool,
  ModelCallError,
  ObservabilityAdvisor,
  type Advisor,
  type AdvisorChain,
  type ChatClientRequest,
  type ChatModel,
  type Tool,
} from '../../../src/index.js';
import type { Around } from '../../../src/core/advisor/advisor.js';
import { loadOpenTelemetry } from '../../../advisors/observability/open-telemetry.js';
import { OpenAIChatModel } from '../../../src/models/openai/index.js';
import { ScriptedChatModel, type Script } from '../../../src/testing/index.js';
import { deferred, settle } from '../../support/promises.js';
import { MODES, type Mode } from '../../support/modes.js';
import {
  completion,
  sendJson,
  sendText,
  WireServer,
  type Exchange,
} from '../../support/wire-server.js';
import {
  recordSpans,
  treeOf,
  useContextManager,
  type Recording,
} from '../../support/recorded-spans.js';

interface Asked {
  readonly tools?: readonly Tool[];
  readonly advisors?: readonly Advisor[];
  readonly signal?: AbortSignal;
}

/** Runs an observed turn and returns its text. */
async function ask(
  mode: Mode,
  model: ChatModel | Script,
  recording: Recording,
  asked: Asked = {},
): Promise<string | null> {
  const { tools = [], advisors = [], signal = new AbortController().signal } = asked;
  const asks = typeof model === 'object' && 'call' in model ? model : new ScriptedChatModel(model);
  const spec = ChatClient.create(asks)
    .prompt('Hi.')
    .tools(...tools)
    .advisors(new ObservabilityAdvisor({ tracer: recording.tracer }), ...advisors)
    .signal(signal);
  return mode === 'call'
    ? spec.call().content()
    : (await lastValueFrom(spec.stream().chatResponse())).text;
}

/** An advisor next to the model. */
const around = (whole: Around): Advisor =>
  defineAdvisor({ name: 'mine', order: AdvisorOrder.RESILIENCE, around: whole });

const busy = (): ModelCallError => new ModelCallError('busy', { status: 503 });

const eventsOf = ({ spans }: Recording, name: string): readonly unknown[] =>
  spans
    .filter((span) => span.name === name)
    .flatMap(({ events }) => events.map((event) => [event.name, event.attributes]));

function expectTree(recording: Recording, ...lines: readonly string[]): void {
  expect(treeOf(recording.spans)).to.equal(lines.join('\n'));
  expect(recording.problems).to.deep.equal([]);
}

function expectInLoop(recording: Recording, ...lines: readonly string[]): void {
  expectTree(
    recording,
    'invoke_agent',
    '  advisor tool-calling',
    ...lines.map((line) => `    ${line}`),
  );
}

for (const mode of MODES)
  describe(`spans of faults in a ${mode}`, () => {
    let recording: Recording;
    before(loadOpenTelemetry);
    beforeEach(() => (recording = recordSpans()));

    it('record retries of the model, with the error type', async () => {
      const failing = (exchange: Exchange, status: number): void =>
        sendJson(exchange, { error: { message: 'no' } }, status, { 'retry-after-ms': '1' });
      const server = await WireServer.start((exchange) => {
        if (exchange.index < 2) return failing(exchange, exchange.index === 0 ? 429 : 500);
        return mode === 'call'
          ? sendJson(exchange, completion('Hello.'))
          : sendText(exchange, 'Hello.');
      });
      const text = await ask(
        mode,
        new OpenAIChatModel({ model: 'm', apiKey: 'sk-test', baseURL: server.baseURL }),
        recording,
      );
      await server.close();

      expect(text).to.equal('Hello.');
      expectInLoop(recording, 'chat m (advisor_chain.retry, advisor_chain.retry)');
      expect(eventsOf(recording, 'chat m')).to.deep.equal([
        ['advisor_chain.retry', { 'error.type': '429', 'advisor_chain.retry.attempt': 1 }],
        ['advisor_chain.retry', { 'error.type': '500', 'advisor_chain.retry.attempt': 2 }],
      ]);
    });

    it('record retries of a tool, with the error type', async () => {
      let tries = 0;
      const flaky = defineTool({
        name: 'flaky',
        effect: 'read',
        retries: 1,
        execute: () => {
          if (tries++ === 0) throw new RangeError('no');
          return 'found';
        },
      });
      await ask(mode, [{ toolCalls: [{ name: 'flaky' }] }, 'Done.'], recording, { tools: [flaky] });

      expect(recording.problems).to.deep.equal([]);
      expect(eventsOf(recording, 'execute_tool flaky')).to.deep.equal([
        ['advisor_chain.retry', { 'error.type': 'RangeError', 'advisor_chain.retry.attempt': 1 }],
      ]);
    });

    it('record retries of an advisor', async () => {
      const retrying = around(async (request, next) => {
        for (let attempt = 1; ; attempt++)
          try {
            return await next(request);
          } catch (error) {
            if (attempt === 3) throw error;
          }
      });
      const text = await ask(mode, [busy(), new TypeError('no'), 'Hello.'], recording, {
        advisors: [retrying],
      });

      expect(text).to.equal('Hello.');
      expectInLoop(
        recording,
        'advisor mine (advisor_chain.retry, advisor_chain.retry)',
        '  chat scripted (error, 503, exception)',
        '  chat scripted (error, TypeError, exception)',
        '  chat scripted',
      );
      expect(eventsOf(recording, 'advisor mine')).to.deep.equal([
        ['advisor_chain.retry', { 'error.type': '503', 'advisor_chain.retry.attempt': 1 }],
        ['advisor_chain.retry', { 'error.type': 'TypeError', 'advisor_chain.retry.attempt': 2 }],
      ]);
    });

    it('record the fallback of an advisor to another model', async () => {
      const small: Around = (request, next) => next(request.withOptions({ model: 'small' }));
      const fallingBack = around((request, next, chain) =>
        next(request).catch(() => small(request, next, chain)),
      );
      await ask(mode, [busy(), 'Hello.'], recording, { advisors: [fallingBack] });

      expectInLoop(
        recording,
        'advisor mine (advisor_chain.fallback)',
        '  chat scripted (error, 503, exception)',
        '  chat small',
      );
      expect(eventsOf(recording, 'advisor mine')).to.deep.equal([
        ['advisor_chain.fallback', { 'error.type': '503', 'gen_ai.request.model': 'small' }],
      ]);
    });

    it('record the fallback of an advisor to its own answer', async () => {
      const sorry = around((request, next) =>
        next(request).catch(() => ChatResponse.ofText('Sorry.')),
      );
      const text = await ask(mode, [busy()], recording, { advisors: [sorry] });

      expect(text).to.equal('Sorry.');
      expectInLoop(
        recording,
        'advisor mine (advisor_chain.fallback)',
        '  chat scripted (error, 503, exception)',
      );
      expect(eventsOf(recording, 'advisor mine')).to.deep.equal([
        ['advisor_chain.fallback', { 'error.type': '503' }],
      ]);
    });

    it('are cancelled when an advisor answers before the parts within it end', async () => {
      const impatient = around((request, next) =>
        Promise.race([
          next(request),
          new Promise<ChatResponse>((resolve) =>
            setImmediate(() => resolve(ChatResponse.ofText('Enough.'))),
          ),
        ]),
      );
      const text = await ask(mode, [{ text: 'Hello.', delay: 60_000 }], recording, {
        advisors: [impatient],
      });

      expect(text).to.equal('Enough.');
      expectInLoop(recording, 'advisor mine', '  chat scripted (cancelled)');
    });

    it('are not recorded for work of an advisor after the end of the turn', async () => {
      let repeat: (() => Promise<unknown>) | undefined;
      const mine: Advisor = {
        name: 'mine',
        order: AdvisorOrder.RESILIENCE,
        advise: (request: ChatClientRequest, chain: AdvisorChain) => {
          repeat = () => lastValueFrom(chain.next(request));
          return chain.next(request);
        },
      };
      await ask(mode, ['Hello.', 'Hello again.', busy()], recording, { advisors: [mine] });
      const tree = treeOf(recording.spans);

      expect(await repeat?.()).to.include({ type: 'response' });
      expect(await repeat?.().catch((error: unknown) => error)).to.include({ status: 503 });
      expectTree(recording, tree);
      expect(tree.split('\n')).to.have.length(4);
    });

    it('are separate when an advisor calls next twice concurrently', async () => {
      const twice = around(async (request, next) => {
        const [first] = await Promise.all([next(request), next(request).catch(() => undefined)]);
        return first;
      });
      const script: Script = [{ text: 'Hello.', delay: 20 }, busy()];
      const text = await ask(mode, script, recording, { advisors: [twice] });

      expect(text).to.equal('Hello.');
      expectInLoop(
        recording,
        'advisor mine',
        '  chat scripted',
        '  chat scripted (error, 503, exception)',
      );
      const [mine, slow] = ['advisor mine', 'chat scripted'].map((name) =>
        recording.spans.findLast((span) => span.name === name),
      );
      // the call that failed was within the time of the other
      expect(mine?.attributes['advisor_chain.advisor.exclusive_time']).to.be.closeTo(
        seconds(mine) - seconds(slow),
        1e-3,
      );
    });

    it('record the timeout of a tool, and nothing after it', async () => {
      const ended = deferred<string>();
      const slow = defineTool({ name: 'slow', timeout: 5, execute: () => ended.promise });
      const text = await ask(mode, [{ toolCalls: [{ name: 'slow' }] }, 'Done.'], recording, {
        tools: [slow],
      });
      ended.resolve('overdue');
      await settle();

      expect(text).to.equal('Done.');
      expectInLoop(
        recording,
        'chat scripted',
        'execute_tool slow (timeout, timeout, advisor_chain.timeout, exception)',
        'chat scripted',
      );
    });

    describe('with a context manager', () => {
      let stop: () => void;
      before(() => (stop = useContextManager()));
      after(() => stop());

      it('nest the turn that a tool starts in the tool call', async () => {
        const helper = defineTool({
          name: 'helper',
          execute: () => ask(mode, [busy()], recording),
        });
        await ask(mode, [{ toolCalls: [{ name: 'helper' }] }, 'Done.'], recording, {
          tools: [helper],
        });

        expectInLoop(
          recording,
          'chat scripted',
          'execute_tool helper (error, 503, exception)',
          '  invoke_agent (error, 503)',
          '    advisor tool-calling (error, 503)',
          '      chat scripted (error, 503, exception)',
          'chat scripted',
        );
      });

      it('have one clock in a turn and a turn of its tool, though the system clock is set back', async () => {
        const { now } = Date;
        const helper = defineTool({
          name: 'helper',
          execute: async () => {
            Date.now = () => now() - 5_000;
            try {
              return await ask(mode, ['Hello.'], recording);
            } finally {
              Date.now = now;
            }
          },
        });
        await ask(mode, [{ toolCalls: [{ name: 'helper' }] }, 'Done.'], recording, {
          tools: [helper],
        });

        expectInLoop(
          recording,
          'chat scripted',
          'execute_tool helper',
          '  invoke_agent',
          '    advisor tool-calling',
          '      chat scripted',
          'chat scripted',
        );
      });

      it('end the turn of a tool before the tool call on cancellation', async () => {
        const controller = new AbortController();
        const inner: Script = [{ text: 'Hello.', delay: 60_000 }];
        const helper = defineTool({
          name: 'helper',
          execute: (_args, { signal }) => {
            setImmediate(() => controller.abort());
            return ask(mode, inner, recording, { signal });
          },
        });
        const asked = { tools: [helper], signal: controller.signal };
        await ask(mode, [{ toolCalls: [{ name: 'helper' }] }, 'Done.'], recording, asked).catch(
          () => undefined,
        );

        expectTree(
          recording,
          'invoke_agent (cancelled)',
          '  advisor tool-calling (cancelled)',
          '    chat scripted',
          '    execute_tool helper (cancelled)',
          '      invoke_agent (cancelled)',
          '        advisor tool-calling (cancelled)',
          '          chat scripted (cancelled)',
        );
      });
    });
  });

function seconds(span: ReadableSpan | undefined): number {
  const [whole, nanos] = span?.duration ?? [NaN, NaN];
  return whole + nanos / 1e9;
}
