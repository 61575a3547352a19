import { expect } from 'chai';
import {
  AdvisorOrder,
  ChatClient,
  CompactionAdvisor,
  CONVERSATION_ID,
  InMemoryChatMemoryRepository,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  textOf,
  ToolCallingAdvisor,
  type CompactionAdvisorOptions,
  type Message,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import {
  brokenPair,
  prefixChanges,
  readPages,
  reportsOf,
  tokensOf,
} from '../../support/compacted-turn.js';
import { invalidReason } from '../../support/conversation.js';
import { runSpec, type Mode } from '../../support/modes.js';
import { recorder } from '../../support/turn.js';
import type { ChatEvent } from '../../../src/index.js';

const MAX = 2_000;
const TURNS = 8;
const PAGES = 8;

type Setting = 'left' | 'left, with tool messages' | 'inside';

const isSummary = (message: Message): boolean => textOf(message).startsWith('Summary of');

/** Runs turns of one conversation; each reads pages and then answers. */
async function conversation(
  mode: Mode,
  setting: Setting,
  options: Partial<CompactionAdvisorOptions>,
  {
    turns = TURNS,
    pages = PAGES,
    size = 300,
    answer = 2_000,
    report = (tokens: number) => tokens,
  } = {},
) {
  const repository = new InMemoryChatMemoryRepository();
  const chatMemory = new MessageWindowChatMemory({ repository, maxMessages: 10_000 });
  const isInside = setting === 'inside';
  let page = 0;
  const model = new ScriptedChatModel((prompt) => {
    const inputTokens = report(tokensOf(prompt));
    const usage = { inputTokens, outputTokens: 1, totalTokens: inputTokens + 1 };
    if (page > 0 && page % pages === 0 && !isAnswered) {
      isAnswered = true;
      return { text: `Answer to ${page}: ${'a'.repeat(answer)}`, usage };
    }
    isAnswered = false;
    const next = page++;
    return { usage, toolCalls: [{ id: `call_${next}`, name: 'read', arguments: { page: next } }] };
  });
  let isAnswered = true;
  const client = ChatClient.builder(model)
    .defaultSystem('Be brief.')
    .defaultTools(readPages(Array.from({ length: turns * pages }, () => size)))
    .defaultAdvisors(
      new ToolCallingAdvisor({ keepHistory: !isInside }),
      new MessageChatMemoryAdvisor({
        chatMemory,
        ...(isInside && { order: AdvisorOrder.TOOL_CALLING + 1 }),
        ...(setting === 'left, with tool messages' && { storeToolMessages: true }),
      }),
      new CompactionAdvisor({ maxTokens: MAX, ...options }),
    )
    .build();
  const results = [];
  for (let turn = 0; turn < turns; turn++) {
    const events: ChatEvent[] = [];
    const from = model.prompts.length;
    const spec = client.prompt(`Question ${turn}?`).advisors(recorder(events));
    await runSpec(
      mode,
      spec.advisors((a) => a.param(CONVERSATION_ID, 'c')),
    );
    results.push({ prompts: model.prompts.slice(from), reports: reportsOf(events) });
  }
  const log = (await repository.read('c')).messages.map(({ message }) => message);
  return { turns: results, log, prompts: model.prompts };
}

const summarizer = () => new ScriptedChatModel((_, index) => `what was read, ${index}`);

const CASES: readonly (readonly [Mode, Setting, 'a model' | 'no model'])[] = [
  ['call', 'left', 'a model'],
  ['stream', 'left', 'no model'],
  ['stream', 'left, with tool messages', 'a model'],
  ['call', 'left, with tool messages', 'no model'],
  ['call', 'inside', 'a model'],
  ['stream', 'inside', 'no model'],
];

describe('CompactionAdvisor with a memory', () => {
  for (const [mode, setting, kind] of CASES)
    describe(`${mode}, ${setting}, ${kind}`, () => {
      const model = summarizer();
      let outcome: Awaited<ReturnType<typeof conversation>>;
      before(async () => {
        outcome = await conversation(mode, setting, kind === 'a model' ? { model } : {});
      });

      it('keeps every request of every turn under the limit, with whole pairs', () => {
        const { prompts } = outcome;

        expect(Math.max(...prompts.map(tokensOf))).to.be.at.most(MAX);
        expect(brokenPair(prompts)).to.equal(undefined);
      });

      it('[D72] stores what the user wrote and each answer once, no summary, and no broken pair', () => {
        const { log } = outcome;

        const questions = log.filter((each) => each.role === 'user');
        expect(questions.map(textOf)).to.deep.equal(
          Array.from({ length: TURNS }, (_, turn) => `Question ${turn}?`),
        );
        const answers = log.filter((each) => each.role === 'assistant' && each.content);
        expect(answers).to.have.length(TURNS);
        expect(invalidReason(log)).to.equal(undefined);
      });

      it('sends the question of each turn, as the last message of the user', () => {
        for (const [turn, { prompts }] of outcome.turns.entries())
          for (const prompt of prompts)
            expect(textOf(prompt.userMessage as Message)).to.equal(`Question ${turn}?`);
      });

      it('begins no turn with what an earlier one has removed: the conversation does not grow again', () => {
        const { turns } = outcome;

        expect(outcome.prompts.some(({ messages }) => messages.some(isSummary))).to.equal(true);
        for (const { messages } of outcome.prompts)
          expect(messages.filter(isSummary).length).to.be.at.most(1);
        for (const [at, { prompts }] of turns.entries()) {
          const earlier = turns[at - 1]?.prompts.at(-1);
          const [first] = prompts;
          if (earlier?.messages.some(isSummary))
            expect(first?.messages.filter(isSummary)).to.have.length(1);
        }
      });

      it('makes a step at most every third iteration, also if the memory loads the originals', () => {
        for (const { prompts, reports } of outcome.turns)
          expect(reports.length).to.be.at.most(Math.ceil(prompts.length / 3));
      });

      if (kind === 'a model')
        it('needs no summary of what has one', () => {
          const ofFirst = model.prompts.filter(({ messages }) =>
            messages.some((each) => textOf(each).includes('"Question 0?"')),
          );
          expect(ofFirst).to.have.length(1);
          for (const prompt of model.prompts.slice(1))
            expect(textOf(prompt.userMessage as Message)).to.include('what was read');
        });
    });

  it('clears results once, although a memory inside the loop loads the originals in each iteration', async () => {
    const clearTo = 0.7;
    const { turns, prompts } = await conversation(
      'call',
      'inside',
      { clearTo },
      { turns: 1, pages: 24 },
    );

    expect(turns[0]?.reports.map(({ strategies }) => strategies)).to.deep.equal([['clear']]);
    expect(Math.max(...prompts.map(tokensOf))).to.be.at.most(MAX);
  });

  for (const setting of ['inside', 'left, with tool messages'] as const)
    it(`summarizes seldom, and seldom changes the prefix, over many turns whose results a memory loads whole (openhuman#4461: done again each time; ${setting})`, async () => {
      let sign = 1;
      const turnCount = 18;
      const { prompts, turns } = await conversation(
        'call',
        setting,
        { model: summarizer() },
        {
          turns: turnCount,
          pages: 2,
          size: 400,
          answer: 40,
          report: (tokens) => tokens * (1 + 0.02 * (sign *= -1)), // usage varies
        },
      );

      expect(Math.max(...prompts.map(tokensOf))).to.be.at.most(MAX * 1.02);
      const strategies = turns.flatMap(({ reports }) =>
        reports.flatMap((report) => report.strategies),
      );
      expect(strategies.filter((strategy) => strategy === 'summarize').length).to.be.within(
        1,
        turnCount / 6,
      );
      expect(prefixChanges(prompts)).to.be.at.most(turnCount / 2);
    });
});
