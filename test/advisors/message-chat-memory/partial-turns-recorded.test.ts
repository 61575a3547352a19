import { expect } from 'chai';
import type { Observable } from 'rxjs';
import {
  ApprovalAdvisor,
  CancelledError,
  ChatClient,
  CONVERSATION_ID,
  defineTool,
  InMemoryChatMemoryRepository,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  ModelCallError,
  textOf,
  type ChatEvent,
  type MessageChatMemoryAdvisorOptions,
  type PausedTurn,
  type PromptSpec,
  type RunReport,
} from '../../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../../src/testing/index.js';
import { durableSpec, finish, KilledEngine } from '../../support/durable.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';
import { decideAll, pauseOptions } from '../../support/paused-turns.js';

const pay = defineTool({ name: 'pay', effect: 'write', execute: () => 'paid' });
const CALL: ScriptedAnswer = { toolCalls: [{ id: 'c1', name: 'pay' }] };
const DOWN: ScriptedAnswer = {
  deltas: ['Part '],
  error: new ModelCallError('down', { retryable: true, status: 503 }),
};
const inConversation = (spec: PromptSpec): PromptSpec =>
  spec.advisors((each) => each.param(CONVERSATION_ID, 'c'));

function memory(options: Partial<MessageChatMemoryAdvisorOptions> = {}) {
  const repository = new InMemoryChatMemoryRepository();
  const chatMemory = new MessageWindowChatMemory({ repository });
  const advisor = new MessageChatMemoryAdvisor({
    chatMemory,
    onIncomplete: 'keep-partial',
    ...options,
  });
  const stored = async (): Promise<readonly string[]> =>
    (await repository.read('c')).messages.map(({ message }) => textOf(message));
  return { advisor, stored };
}

for (const mode of MODES)
  describe(`a partial turn of a recorded turn (${mode})`, () => {
    for (const storeToolMessages of [false, true])
      it(`[D73] leaves room for the answer of the turn: storeToolMessages ${storeToolMessages}`, async () => {
        const { advisor, stored } = memory({ storeToolMessages });
        const client = ChatClient.builder(new ScriptedChatModel([CALL, DOWN, 'Receipt 4711.']))
          .defaultTools(pay)
          .defaultAdvisors(new ApprovalAdvisor({ pause: pauseOptions() }), advisor)
          .build();
        const first = await runSpec(mode, inConversation(client.prompt('Pay.')));
        const { state } = first.paused as PausedTurn;
        const decisions = decideAll(first);
        const failure = await failureOf(runSpec('stream', client.resume(state, decisions)));

        const { text } = await runSpec(mode, client.resume(state, decisions));

        expect(failure).to.be.instanceOf(ModelCallError);
        expect(text).to.equal('Receipt 4711.');
        expect((await stored()).at(-1)).to.equal('Receipt 4711.');
      });

    it('is not stored if the recorder fails: another execution has the whole turn', async () => {
      const { advisor, stored } = memory();
      const model = new ScriptedChatModel([CALL, 'Paid.']);
      const engine = new KilledEngine([], { at: 'model 1', place: 'after' });
      const turn = { model, tools: [pay], advisors: [advisor], spec: inConversation };
      await finish(durableSpec(turn, engine), mode);

      expect(engine.isDead).to.equal(true);
      expect(await stored()).to.deep.equal([]);
    });
  });

describe('a partial turn that could have paused, and has not', () => {
  it('[D81] is stored if it is stopped', async () => {
    const { advisor, stored } = memory();
    const deltas = ['a ', 'b ', 'c ', 'd'];
    const client = ChatClient.builder(new ScriptedChatModel([{ deltas, delay: 20 }]))
      .defaultAdvisors(advisor, new ApprovalAdvisor({ pause: pauseOptions() }))
      .build();
    const stop = new AbortController();
    const spec = inConversation(client.prompt('Hi.')).signal(stop.signal);

    const failure = await failureOf(stopAtSecondPiece(spec.stream().events(), stop));

    expect(failure).to.be.instanceOf(CancelledError);
    await ((failure as CancelledError).run as RunReport).settled;
    expect(await stored()).to.deep.equal(['Hi.', 'a b ']);
  });
});

async function stopAtSecondPiece(events: Observable<ChatEvent>, stop: AbortController) {
  let pieces = 0;
  for await (const { type } of events as unknown as AsyncIterable<ChatEvent>)
    if (type === 'text-delta' && ++pieces === 2) stop.abort(new Error('stopped'));
}
