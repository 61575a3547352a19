import { expect } from 'chai';
import {
  AdvisorOrder,
  CancelledError,
  ChatClient,
  CONVERSATION_ID,
  InMemoryChatMemoryRepository,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  ModelTimeoutError,
  SummarizingChatMemory,
  type ChatModel,
} from '../../src/index.js';
import { ScriptedChatModel } from '../../src/testing/index.js';
import { ADVISOR_WAITS } from '../support/advisor-waits.js';
import { ForeignWait, WAYS, type Limits, type WaitRow } from '../support/foreign-wait.js';
import { failureOf, MODES, runSpec, type Mode } from '../support/modes.js';
import { settle, settled, until } from '../support/promises.js';
import { TOOL_WAITS } from '../support/tool-waits.js';
import { FETCH_WAITS, runModel } from '../support/wire-waits.js';
import { beginEvents, sendEvent, sendJson, chunk, whenClosed } from '../support/wire-server.js';
import type { Exchange } from '../support/wire-server.js';
import { useWireModel } from '../support/wire-model.js';

/** A limit in milliseconds that ends a wait. */
const LIMIT = 10;
/** A generous bound in milliseconds: a wait that does not end fails by the timeout of its test. */
const BOUND = 5_000;
const REASON = new Error('closed');

const timers = (): number =>
  process.getActiveResourcesInfo().filter((type) => type === 'Timeout').length;

/** Resolves when no more timers keep the process alive than before. */
async function timersEnd(before: number): Promise<void> {
  const start = performance.now();
  while (timers() > before && performance.now() - start < BOUND / 2) await settled();
  expect(timers(), 'timers').to.be.at.most(before);
}

/** Runs a row until its turn has failed; later outcomes of the foreign code are ignored. */
async function failureIn(
  { run, keepsTimer }: WaitRow,
  mode: Mode,
  wait: ForeignWait,
  limits: Limits,
  end: () => Promise<void> = () => Promise.resolve(),
): Promise<unknown> {
  await settled(); // the timer of the test begins after its first task
  const before = timers();
  const failure = failureOf(run({ mode, wait, limits }));
  await end();
  const error = await failure;
  if (!keepsTimer) await timersEnd(before);
  wait.abort('after the end');
  wait.release();
  await settle();
  await timersEnd(before);
  return error;
}

async function cancelled(row: WaitRow, mode: Mode, wait: ForeignWait): Promise<void> {
  const error = await failureIn(row, mode, wait, {}, async () => {
    await wait.entered;
    await settled();
    wait.abort(REASON);
  });

  expect(error).to.be.instanceOf(CancelledError).with.property('cause', REASON);
}

const ROWS = [...FETCH_WAITS, ...TOOL_WAITS, ...ADVISOR_WAITS];

describe('a wait for foreign code', function () {
  this.timeout(BOUND);

  for (const row of ROWS)
    for (const [title, way] of Object.entries(WAYS).slice(0, row.own ? 1 : undefined))
      for (const mode of MODES) {
        it(`[D41] ends with its run, a ${mode}: ${row.title} that ${title}`, () =>
          cancelled(row, mode, new ForeignWait(way)));

        for (const [limit, type] of Object.entries(row.limits ?? {}))
          it(`[D41] ends at ${limit} of a ${mode}: ${row.title} that ${title}`, async () => {
            const wait = new ForeignWait(way);

            const error = await failureIn(row, mode, wait, { [limit]: LIMIT });

            expect(error).to.be.instanceOf(type);
          });
      }
});

describe('a summary of a memory', function () {
  this.timeout(BOUND);

  /** A turn whose memory waits for a summary after it. */
  async function summarizedTurn(wait: ForeignWait, order: number) {
    const repository = new InMemoryChatMemoryRepository();
    const question = { role: 'user', content: 'a' } as const;
    await repository.append('c', [question, { role: 'assistant', content: 'b' }]);
    const model: ChatModel = {
      defaultOptions: {},
      stream: (prompt) => new ScriptedChatModel([]).stream(prompt),
      call: (prompt, run) =>
        wait.enter(undefined, run?.signal).then(() => new ScriptedChatModel(['so']).call(prompt)),
    };
    const errors: unknown[] = [];
    const chatMemory = new SummarizingChatMemory({
      repository,
      maxMessages: 2,
      model,
      summaryTimeout: LIMIT,
      onSummaryError: (error) => errors.push(error),
    });
    const spec = ChatClient.create(new ScriptedChatModel(['done']))
      .prompt('?')
      .advisors(new MessageChatMemoryAdvisor({ chatMemory, order }), (a) =>
        a.param(CONVERSATION_ID, 'c'),
      );
    return { spec, errors };
  }

  for (const order of [AdvisorOrder.MEMORY, AdvisorOrder.TOOL_CALLING + 1])
    for (const [title, way] of Object.entries(WAYS))
      for (const mode of MODES)
        it(`[D103] does not hold its turn, and ends at its limit, a ${mode}: ${title}, order ${order}`, async () => {
          await settled();
          const before = timers();
          const { spec, errors } = await summarizedTurn(new ForeignWait(way), order);

          const { text, run } = await runSpec(mode, spec);
          const whileAnswered = errors.length;
          await run?.settled;

          expect([text, whileAnswered]).to.deep.equal(['done', 0]);
          expect(errors[0]).to.be.instanceOf(ModelTimeoutError);
          await timersEnd(before);
        });
});

describe('a wait for a connection', function () {
  this.timeout(BOUND);
  const wire = useWireModel();

  /** Resolves when the sockets of all requests without a whole answer are closed. */
  const unansweredEnd = async (): Promise<void> => {
    // under load the timeout may end a turn before its second request
    for (const { response, socket } of wire.server.exchanges)
      if (!response.writableEnded) await whenClosed(socket, 0);
  };

  /** Answers that do not come to their end. */
  const answers: Readonly<Record<string, (exchange: Exchange) => unknown>> = {
    'an answer': () => undefined,
    'the body of an answer': beginEvents,
    'the rest of a body': (exchange) => {
      beginEvents(exchange);
      sendEvent(exchange, chunk({ content: 'Hel' }));
    },
    'the body of an error': ({ response }) => response.writeHead(500).write('<html>'),
    'the answer after a redirect': (exchange) =>
      exchange.index === 0 && sendJson(exchange, {}, 307, { location: wire.server.baseURL }),
  };
  for (const [title, answer] of Object.entries(answers)) {
    const last = title.endsWith('redirect') ? 1 : 0;
    const row: WaitRow = {
      title,
      run: (scene) => {
        wire.answer = (exchange) => {
          answer(exchange);
          if (exchange.index === last) void scene.wait.enter(undefined);
        };
        return runModel(scene, { baseURL: wire.server.baseURL, apiKey: 'sk-test' });
      },
    };
    const never = (): ForeignWait => new ForeignWait(() => new Promise(() => undefined));

    for (const mode of MODES) {
      it(`[D41] is closed with its run, a ${mode}: ${title}`, async () => {
        await cancelled(row, mode, never());

        await unansweredEnd();
      });

      it(`[D41] is closed at the timeout of a ${mode}: ${title}`, async () => {
        const error = await failureIn(row, mode, never(), { timeout: LIMIT * 5 });

        expect(error).to.be.instanceOf(ModelTimeoutError);
        await unansweredEnd();
      });
    }
  }
});

/** Runs a turn that fails after its first text, with a memory. */
function failingTurn(advisor: MessageChatMemoryAdvisor): Promise<unknown> {
  const model = new ScriptedChatModel([{ text: 'partial', error: new Error('broken') }]);
  const spec = ChatClient.create(model)
    .prompt('?')
    .advisors(advisor, (a) => a.param(CONVERSATION_ID, 'c'));
  return failureOf(runSpec('stream', spec));
}

describe('a listener that returns a promise', () => {
  let calls = 0;
  const never = (): unknown => {
    calls++;
    return new Promise(() => undefined);
  };
  beforeEach(() => (calls = 0));

  it('[D41] does not delay the error of a turn: onWriteError', async () => {
    class BrokenRepository extends InMemoryChatMemoryRepository {
      override append(): Promise<number> {
        return Promise.reject(new Error('disk full'));
      }
    }
    const chatMemory = new MessageWindowChatMemory({ repository: new BrokenRepository() });
    const options = { chatMemory, onIncomplete: 'keep-partial', onWriteError: never } as const;

    const error = await failingTurn(new MessageChatMemoryAdvisor(options));

    expect([(error as Error).message, calls]).to.deep.equal(['broken', 1]);
  });

  it('[D41] is called once for a failed summary: onSummaryError', async () => {
    const chatMemory = new SummarizingChatMemory({
      repository: new InMemoryChatMemoryRepository(),
      model: new ScriptedChatModel([new Error('no summary')]),
      maxMessages: 2,
      onSummaryError: never,
    });
    const turn = (content: string) => chatMemory.add('c', { role: 'user', content });
    await turn('a');
    await turn('b');

    expect(await turn('c')).to.equal(3);
    await until(() => calls > 0);
    expect(calls).to.equal(1);
  });
});
