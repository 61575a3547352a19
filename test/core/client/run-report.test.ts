import { expect } from 'chai';
import { Observable, race, throwError } from 'rxjs';
import { retry } from 'rxjs/operators';
import {
  AdvisorOrder,
  CancelledError,
  ChatClient,
  CONVERSATION_ID,
  defineAdvisor,
  defineTool,
  InMemoryChatMemoryRepository,
  MemoryWriteError,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  ModelCallError,
  ModelTimeoutError,
  ToolCallingAdvisor,
  toolCallingAutoRegister,
  type Advisor,
  type Message,
  type PromptSpec,
  type RunReport,
} from '../../../src/index.js';
import { ScriptedChatModel, type Script } from '../../../src/testing/index.js';
import { deferred } from '../../support/promises.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';
import { useWireModel } from '../../support/wire-model.js';
import {
  beginEvents,
  chunk,
  sendEvent,
  sendEvents,
  whenClosed,
} from '../../support/wire-server.js';

const f = defineTool({ name: 'f', execute: () => 'done' });
const asks = (...names: readonly string[]) => ({ toolCalls: names.map((name) => ({ name })) });
const fault = new Error('out of order');

async function reportOf(failing: Promise<unknown>): Promise<RunReport> {
  const { run: report } = (await failureOf(failing)) as { readonly run?: RunReport };
  if (!report) throw new Error('the error has no report');
  return report;
}

const roles = (messages: readonly Message[]): readonly string[] => messages.map(({ role }) => role);
const statuses = ({ toolCalls }: Pick<RunReport, 'toolCalls'>): readonly string[] =>
  toolCalls.map(({ toolName, status }) => `${toolName} ${status}`);
const specOf = (
  script: Script,
  ...advisors: readonly (Advisor | ReturnType<typeof toolCallingAutoRegister>)[]
): PromptSpec =>
  ChatClient.create(new ScriptedChatModel(script))
    .prompt('?')
    .tools(f)
    .advisors(...advisors);

async function isPending(promise: Promise<unknown>): Promise<boolean> {
  const later = new Promise((resolve) => setTimeout(resolve, 20, 'pending'));
  return (await Promise.race([promise, later])) === 'pending';
}

for (const mode of MODES) {
  describe(`the steps of a run by ${mode}`, () => {
    it('[D7] are the iterations with their responses, results and durations', async () => {
      const slow = defineTool({
        name: 'slow',
        execute: () => new Promise((resolve) => setTimeout(resolve, 20, 'at last')),
      });

      const { steps } = await runSpec(mode, specOf([asks('f', 'slow'), 'so']).tools(slow));

      expect(steps.map(({ index, response }) => [index, response.text])).to.deep.equal([
        [0, null],
        [1, 'so'],
      ]);
      const calls = steps[0]?.toolCalls ?? [];
      expect(calls.map(({ status, result }) => [status, result?.content])).to.deep.equal([
        ['finished', 'done'],
        ['finished', 'at last'],
      ]);
      expect(calls[1]?.duration).to.be.within(15, 2_000);
    });

    it('[D7] have one entry without a loop', async () => {
      const { steps } = await runSpec(mode, specOf(['so'], toolCallingAutoRegister(false)));

      expect(steps.map(({ index, response }) => [index, response.text])).to.deep.equal([[0, 'so']]);
    });

    it('[D7] belong to the last attempt after a retry of the whole turn; all calls are kept', async () => {
      const again: Advisor = {
        name: 'again',
        order: AdvisorOrder.GUARD,
        advise: (request, chain) => chain.next(request).pipe(retry(1)),
      };
      const script = [asks('f'), asks('f'), fault, asks('f'), 'so'];

      const response = await runSpec(mode, specOf(script, again));

      expect(response.steps.map(({ index }) => index)).to.deep.equal([0, 1]);
      expect(response.run?.toolCalls).to.have.lengthOf(3);
      expect(roles(response.run?.transcript ?? [])).to.deep.equal([
        'user',
        'assistant',
        'tool',
        'assistant',
      ]);
    });

    it('[D7] belong to the attempt that answered first of two at once', async () => {
      const racing: Advisor = {
        name: 'racing',
        order: AdvisorOrder.GUARD,
        advise: (request, chain) => race(chain.next(request), chain.next(request)),
      };
      let calls = 0;
      const tool = defineTool({
        name: 'f',
        execute: async (_args, { signal }) => {
          const isSecond = ++calls === 2;
          await new Promise((resolve) => {
            if (isSecond) signal.addEventListener('abort', resolve);
            else setTimeout(resolve, 5);
          });
          return calls;
        },
      });
      const model = new ScriptedChatModel(({ messages }) => ({
        ...(messages.length === 1 ? asks('f') : { text: 'so' }),
        delay: 1,
      }));

      const response = await runSpec(
        mode,
        ChatClient.create(model).prompt('?').tools(tool).advisors(racing),
      );

      expect(response.steps.map((step) => step.response.text)).to.deep.equal([null, 'so']);
    });
  });

  describe(`error.run of a run by ${mode}`, () => {
    it('[D7] has steps, transcript and finished calls if the model fails', async () => {
      const report = await reportOf(runSpec(mode, specOf([asks('f'), fault])));

      expect(report.steps.map(({ index }) => index)).to.deep.equal([0]);
      expect(roles(report.transcript)).to.deep.equal(['user', 'assistant', 'tool']);
      expect(statuses(report)).to.deep.equal(['f finished']);
      expect(report.partialText).to.equal('');
      expect(report.ledger.map(({ outcome }) => outcome)).to.deep.equal(['answered', 'failed']);
    });

    it('[D7] reports what has run, what may have run and what has not, after a cancellation', async () => {
      const controller = new AbortController();
      const never = deferred();
      const concurrencyKey = (): string => 'x';
      const write = defineTool({ name: 'write', effect: 'write', execute: () => 'written' });
      const first = defineTool({
        name: 'first',
        concurrencyKey,
        execute: () => {
          setTimeout(() => controller.abort(), 5);
          return never.promise;
        },
      });
      const later = defineTool({ name: 'write_later', concurrencyKey, execute: () => 'written' });
      const spec = specOf([asks('write', 'first', 'write_later')])
        .tools(write, first, later)
        .signal(controller.signal);

      const failing = failureOf(runSpec(mode, spec));
      const error = (await failing) as CancelledError;

      expect(error).to.be.instanceOf(CancelledError);
      expect(statuses(error.run as RunReport)).to.deep.equal([
        'write finished',
        'first unknown',
        'write_later requested',
      ]);
      never.resolve();
    });

    it('[D7] settles when tools have ended, also those that ignore their signal', async () => {
      const controller = new AbortController();
      const { promise: opened, resolve: open } = deferred();
      const stuck = defineTool({
        name: 'stuck',
        timeout: 10_000,
        execute: () => {
          setTimeout(() => controller.abort(), 5);
          return opened;
        },
      });

      const report = await reportOf(
        runSpec(
          mode,
          specOf([asks('stuck')])
            .tools(stuck)
            .signal(controller.signal),
        ),
      );

      expect(await isPending(report.settled)).to.equal(true);
      open();
      await report.settled;
    });

    it('[D7] settles when tools of nested turns have ended, and tools that were given up', async () => {
      const controller = new AbortController();
      const [inner, outlived] = [deferred(), deferred()];
      const deep = defineTool({
        name: 'deep',
        execute: () => {
          setTimeout(() => controller.abort(), 5);
          return inner.promise;
        },
      });
      const outer = defineTool({
        name: 'outer',
        execute: (_args, { signal }) =>
          runSpec(
            mode,
            specOf([asks('deep')])
              .tools(deep)
              .signal(signal),
          ),
      });
      const slow = defineTool({ name: 'slow', timeout: 5, execute: () => outlived.promise });

      const report = await reportOf(
        runSpec(
          mode,
          specOf([asks('slow'), asks('outer')])
            .tools(outer, slow)
            .signal(controller.signal),
        ),
      );

      expect(await isPending(report.settled)).to.equal(true);
      inner.resolve();
      expect(await isPending(report.settled)).to.equal(true);
      outlived.resolve();
      await report.settled;
    });

    it('[D7] settles when an Observable or a generator of a tool has been closed', async () => {
      const controller = new AbortController();
      const closed: string[] = [];
      const observable = defineTool({
        name: 'observable',
        execute: () => new Observable(() => () => void closed.push('observable')),
      });
      const generator = defineTool({
        name: 'generator',
        async *execute() {
          try {
            for (let items = 0; ; items++) {
              // Both tools run by now: the calls of an answer start together.
              if (items === 1) setTimeout(() => controller.abort());
              await new Promise((resolve) => setTimeout(resolve, 5));
              yield 'more';
            }
          } finally {
            await new Promise((resolve) => setTimeout(resolve, 5));
            closed.push('generator');
          }
        },
      });
      const spec = specOf([asks('observable', 'generator')]).tools(observable, generator);

      const report = await reportOf(runSpec(mode, spec.signal(controller.signal)));
      await report.settled;

      expect(closed).to.deep.equal(['observable', 'generator']);
    });

    it('[D7] settles when a function of an advisor has ended, with what it has stored', async () => {
      const chatMemory = new MessageWindowChatMemory({
        repository: new InMemoryChatMemoryRepository(),
      });
      const { promise: opened, resolve: open } = deferred();
      const slowMemory = {
        capabilities: chatMemory.capabilities,
        load: chatMemory.load.bind(chatMemory),
        add: async (...input: Parameters<typeof chatMemory.add>) => {
          await opened;
          return chatMemory.add(...input);
        },
      } as unknown as MessageWindowChatMemory;
      const memory = new MessageChatMemoryAdvisor({
        chatMemory: slowMemory,
        onIncomplete: 'keep-partial',
        storeToolMessages: true,
      });
      const controller = new AbortController();
      const stop = defineTool({
        name: 'stop',
        execute: async () => {
          setTimeout(() => controller.abort(), 1);
          await new Promise((resolve) => setTimeout(resolve, 5));
        },
      });
      const spec = specOf([asks('f'), asks('stop')], memory)
        .tools(stop)
        .advisors((a) => a.param(CONVERSATION_ID, 'anna'));

      const report = await reportOf(runSpec(mode, spec.signal(controller.signal)));

      expect(report.stored).to.deep.equal([]);
      open();
      await report.settled;
      expect(report.stored.map(({ conversationId }) => conversationId)).to.deep.equal(['anna']);
    });

    it('[D7] is there after an error of an advisor, with the text so far', async () => {
      const strict = defineAdvisor({
        name: 'strict',
        order: AdvisorOrder.GUARD,
        after: () => {
          throw fault;
        },
      });

      const report = await reportOf(runSpec(mode, specOf([asks('f'), 'so far'], strict)));

      expect(report.steps).to.have.lengthOf(2);
      expect(report.partialText).to.equal(mode === 'stream' ? 'so far' : '');
    });

    it('[D7] is there after an error before the model was called', async () => {
      const broken: Advisor = {
        name: 'broken',
        order: 1,
        advise: () => throwError(() => fault),
      };

      const report = await reportOf(runSpec(mode, specOf([], broken)));

      expect([report.steps, report.ledger, roles(report.transcript)]).to.deep.equal([
        [],
        [],
        ['user'],
      ]);
      await report.settled;
    });

    it('[D7] is there at a limit, with all results', async () => {
      const loop = new ToolCallingAdvisor({ maxIterations: 1, onLimit: 'throw' });

      const report = await reportOf(runSpec(mode, specOf([asks('f')], loop)));

      expect(roles(report.transcript)).to.deep.equal(['user', 'assistant', 'tool']);
      expect(statuses(report)).to.deep.equal(['f finished']);
    });

    it('[D7] is there after a time limit of the model, with the text of the error', async () => {
      const error = new ModelTimeoutError('too slow', { partialText: 'half' });

      const report = await reportOf(runSpec(mode, specOf([{ deltas: ['half'], error }])));

      expect(report.partialText).to.equal('half');
    });

    it('[D7] is there after an error of the memory', async () => {
      const chatMemory = new MessageWindowChatMemory({
        repository: new InMemoryChatMemoryRepository(),
      });
      chatMemory.add = () => Promise.reject(fault);
      const spec = specOf(['so'], new MessageChatMemoryAdvisor({ chatMemory })).advisors((a) =>
        a.param(CONVERSATION_ID, 'anna'),
      );

      const error = (await failureOf(runSpec(mode, spec))) as MemoryWriteError;

      expect(error).to.be.instanceOf(MemoryWriteError);
      expect(error.run?.steps[0]?.response.text).to.equal('so');
      expect(error.run?.stored).to.deep.equal([]);
    });

    it('[D7] belongs to the outermost run if the error comes from a nested one', async () => {
      const nested = defineTool({
        name: 'nested',
        onToolError: 'throw',
        execute: (_args, { signal }) => runSpec(mode, specOf([fault]).signal(signal)),
      });

      const report = await reportOf(runSpec(mode, specOf([asks('nested')]).tools(nested)));

      expect(statuses(report)).to.deep.equal(['nested finished']);
      expect(report.ledger.map(({ outcome }) => outcome)).to.deep.equal(['answered', 'failed']);
    });

    it('[D7] is hidden from logs: the error has no other fields than before', async () => {
      const error = new ModelCallError('no');

      await failureOf(runSpec(mode, specOf([error])));

      expect(error.run).to.be.an('object');
      expect(Object.keys(error)).to.deep.equal(Object.keys(new ModelCallError('no')));
    });
  });
}

describe('error.run.settled', () => {
  const wire = useWireModel();

  const laters = { 'read at once': 0, 'read after the request has failed': 50 };
  for (const mode of MODES)
    for (const [name, microtasks] of Object.entries(laters))
      it(`[D7] resolves when the server has seen the socket close (${mode}, ${name})`, async () => {
        wire.answer = (exchange) => {
          beginEvents(exchange);
          sendEvent(exchange, chunk({ content: 'Hel' }));
        };
        const controller = new AbortController();
        const failing = reportOf(
          runSpec(mode, ChatClient.create(wire.model).prompt('?').signal(controller.signal)),
        );
        const { socket } = await wire.server.nextExchange(1);
        let isClosed = false;
        void whenClosed(socket, 0).then(() => (isClosed = true));
        await new Promise((resolve) => setTimeout(resolve, 20));

        controller.abort();
        const report = await failing;
        for (let at = 0; at < microtasks; at++) await Promise.resolve();
        await report.settled;

        expect(isClosed).to.equal(true);
        expect(report.partialText).to.equal(mode === 'stream' ? 'Hel' : '');
      });

  it('[D7] waits for requests of nested turns in tools', async () => {
    const controller = new AbortController();
    wire.answer = (exchange) => {
      const { index } = exchange;
      if (index > 0) return controller.abort();
      const call = { index: 0, id: 'a', function: { name: 'ask', arguments: '{}' } };
      return sendEvents(exchange, [
        chunk({ tool_calls: [call] }),
        chunk({}, 'tool_calls'),
        '[DONE]',
      ]);
    };
    const ask = defineTool({
      name: 'ask',
      execute: (_args, { signal }) =>
        ChatClient.create(wire.model).prompt('?').signal(signal).call().content(),
    });
    const spec = ChatClient.create(wire.model).prompt('?').tools(ask);

    const report = await reportOf(runSpec('stream', spec.signal(controller.signal)));
    const { socket } = await wire.server.nextExchange(2);
    let isClosed = false;
    void whenClosed(socket, 0).then(() => (isClosed = true));
    await report.settled;

    expect(isClosed).to.equal(true);
    expect(report.ledger.map(({ outcome }) => outcome)).to.deep.equal(['answered', 'cancelled']);
  });
});
