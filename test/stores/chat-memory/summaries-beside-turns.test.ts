import { expect } from 'chai';
import { filter, firstValueFrom } from 'rxjs';
import {
  AdvisorOrder,
  CancelledError,
  ChatClient,
  CONVERSATION_ID,
  defineAdvisor,
  defineTool,
  InMemoryChatMemoryRepository,
  MessageChatMemoryAdvisor,
  ModelTimeoutError,
  SummarizingChatMemory,
  TimeoutAdvisor,
  type Advisor,
  type ChatModel,
  type MessageChatMemoryAdvisorOptions,
  type PromptSpec,
  type RunReport,
  type SummarizingChatMemoryOptions,
} from '../../../src/index.js';
import { ScriptedChatModel, type Script } from '../../../src/testing/index.js';
import { shortTexts, turn } from '../../support/conversation.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';
import { deferred, settled, until } from '../../support/promises.js';
import { addTurn } from '../../support/summaries.js';

/** A model that writes summaries when it is released, and ignores its signal. */
function heldModel() {
  const { promise, resolve: release } = deferred();
  const model = new ScriptedChatModel(() => ({ text: 'They talked.' }));
  const asked: (AbortSignal | undefined)[] = [];
  const held: ChatModel = {
    defaultOptions: {},
    stream: (prompt) => model.stream(prompt),
    call: async (prompt, run) => {
      asked.push(run?.signal);
      await promise;
      return model.call(prompt);
    },
  };
  return { model: held, asked, release };
}

interface Parts {
  readonly memory: Partial<SummarizingChatMemoryOptions> &
    Pick<SummarizingChatMemoryOptions, 'model'>;
  readonly advisor?: Partial<MessageChatMemoryAdvisorOptions>;
  readonly others?: readonly Advisor[];
  readonly script?: Script;
}

/** A client whose conversation is too long after each turn but the first one. */
function make({ memory, advisor, others = [], script = () => 'The answer.' }: Parts) {
  const repository = new InMemoryChatMemoryRepository();
  const errors: unknown[] = [];
  const reports: RunReport[] = [];
  const onSummaryError = (error: unknown): unknown => errors.push(error);
  const chatMemory = new SummarizingChatMemory({
    repository,
    maxMessages: 2,
    onSummaryError,
    ...memory,
  });
  const watcher = defineAdvisor({
    name: 'watcher',
    order: 0,
    before: ({ run }) => void reports.push(run),
  });
  const client = ChatClient.builder(new ScriptedChatModel(script))
    .defaultAdvisors(watcher, ...others, new MessageChatMemoryAdvisor({ chatMemory, ...advisor }))
    .build();
  const ask = (question: string): PromptSpec =>
    client.prompt(question).advisors((a) => a.param(CONVERSATION_ID, 'c'));
  const texts = async () => shortTexts(await chatMemory.get('c'));
  const latest = (): RunReport => reports.at(-1) as RunReport;
  return { repository, chatMemory, errors, ask, texts, latest };
}

for (const mode of MODES)
  describe(`a summary of a SummarizingChatMemory (${mode})`, () => {
    it('[D103] does not delay the answer, nor fail the turn at a limit', async () => {
      const { model, asked, release } = heldModel();
      const limited = [new TimeoutAdvisor({ turn: 5_000 })];
      const { ask, errors, texts, latest } = make({ memory: { model }, others: limited });
      await runSpec(mode, ask('first'));

      const response = await runSpec(mode, ask('second'));
      await until(() => asked.length > 0);

      expect(response.text).to.equal('The answer.');
      expect(await texts()).to.have.length(4);
      release();
      await latest().settled;
      expect(await texts()).to.have.length(3);
      expect(errors).to.have.length(0);
    });

    it('[D103] ends at its time limit, also if the model ignores its signal', async () => {
      const { model, asked } = heldModel();
      const { ask, errors, latest } = make({ memory: { model, summaryTimeout: 5 } });
      await runSpec(mode, ask('first'));
      await runSpec(mode, ask('second'));

      await latest().settled;

      expect(asked.map((signal) => signal?.aborted)).to.deep.equal([true]);
      expect(errors).to.have.length(1);
      expect(errors[0]).to.be.instanceOf(ModelTimeoutError);
      expect(errors[0]).to.include({ option: 'summaryTimeout', retryable: true });
    });

    it('[D103] ends with a run that is cancelled before its answer', async () => {
      const { model, asked } = heldModel();
      const stop = new AbortController();
      const waiting = defineTool({
        name: 'wait',
        execute: async () => {
          await until(() => asked.length > 0);
          stop.abort();
        },
      });
      const { ask, errors, latest, chatMemory } = make({
        memory: { model },
        advisor: { order: AdvisorOrder.TOOL_CALLING + 1 },
        script: [{ toolCalls: [{ name: 'wait' }] }],
      });
      await chatMemory.add('c', turn(1));

      const error = await failureOf(runSpec(mode, ask('?').tools(waiting).signal(stop.signal)));
      await latest().settled;

      expect(error).to.be.instanceOf(CancelledError);
      expect(errors[0]).to.be.instanceOf(CancelledError);
      expect(asked.map((signal) => signal?.aborted)).to.deep.equal([true]);
    });

    for (const keepOriginals of [true, false])
      it(`[D103] is no concurrent turn for onConflict: fail (keepOriginals: ${keepOriginals})`, async () => {
        const { model, asked, release } = heldModel();
        const summary: { stored?: Promise<void> } = {};
        const meanwhile = defineAdvisor({
          name: 'meanwhile',
          order: AdvisorOrder.MEMORY + 1,
          before: async () => {
            if (summary.stored) release();
            await summary.stored;
          },
        });
        const { ask, chatMemory, texts, latest } = make({
          memory: { model, keepOriginals },
          advisor: { onConflict: 'fail' },
          others: [meanwhile],
        });
        await runSpec(mode, ask('first'));
        await runSpec(mode, ask('second'));
        await until(() => asked.length > 0);
        summary.stored = latest().settled;

        await runSpec(mode, ask('third'));
        await latest().settled;

        expect((await texts()).slice(-2)).to.deep.equal(['third', 'The answer.']);
        const error = await failureOf(chatMemory.add('c', turn(4), { expectedVersion: 2 }));
        expect(error).to.have.property('code', 'memory_conflict');
      });
  });

describe('a summary of a SummarizingChatMemory', () => {
  it('[D103] is stored if the caller leaves the stream with the answer', async () => {
    const { model, asked, release } = heldModel();
    const { ask, errors, texts, latest } = make({ memory: { model } });
    const answerOf = (question: string) =>
      firstValueFrom(
        ask(question)
          .stream()
          .events()
          .pipe(filter(({ type }) => type === 'response')),
      );
    await answerOf('first');
    await answerOf('second');
    await until(() => asked.length > 0);

    release();
    await latest().settled;

    expect(errors).to.have.length(0);
    expect(await texts()).to.have.length(3);
  });

  it('[D103] that was copied hides no concurrent turn', async () => {
    const model = new ScriptedChatModel(() => 'They talked.');
    const { chatMemory, repository } = make({ memory: { model } });
    for (const at of [1, 2]) await addTurn(chatMemory, 'c', turn(at));
    const { version } = await repository.read('c'); // of the log after its summary
    await repository.append('fork', await chatMemory.get('c'));
    while ((await repository.read('fork')).version < version)
      await repository.append('fork', [{ role: 'user', content: 'concurrent' }]);

    const added = chatMemory.add('fork', turn(3), { expectedVersion: version - 1 });

    expect(await failureOf(added)).to.have.property('code', 'memory_conflict');
  });

  it('[D103] is made once at a time for a conversation, and not held by another one', async () => {
    const { model, asked, release } = heldModel();
    const { chatMemory } = make({ memory: { model } });

    for (const at of [1, 2, 3, 4]) await chatMemory.add('c', turn(at));
    for (const at of [1, 2, 3, 4]) await chatMemory.add('other', turn(at));
    await settled();

    expect(asked).to.have.length(2);
    release();
  });
});
