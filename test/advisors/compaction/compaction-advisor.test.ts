import { expect } from 'chai';
import {
  AdvisorOrder,
  ChatClient,
  CompactionAdvisor,
  defineAdvisor,
  defineTool,
  InvalidArgumentError,
  LimitExceededError,
  ModelCallError,
  RetryAdvisor,
  textOf,
  toolResult,
  type CompactionAdvisorOptions,
  type Message,
  type Prompt,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { brokenPair, longTurn, prefixChanges, tokensOf } from '../../support/compacted-turn.js';
import { assistant, user } from '../../support/conversation.js';
import { MODES, runSpec } from '../../support/modes.js';

const MAX = 2_000;
const pages = (count: number, size = 400): readonly number[] =>
  Array.from({ length: count }, () => size);
const textsOf = ({ messages }: Prompt): readonly string[] =>
  messages.map((message) => textOf(message));
const has = (prompt: Prompt | undefined, part: string | RegExp): boolean =>
  prompt !== undefined &&
  textsOf(prompt).some((text) =>
    typeof part === 'string' ? text.includes(part) : part.test(text),
  );
const resultOf = (prompt: Prompt | undefined, page: number): string | undefined => {
  const found = prompt?.messages.find(
    (message) => message.role === 'tool' && message.toolCallId === `call_${page}`,
  );
  return found ? textOf(found) : undefined;
};
const largest = (prompts: readonly Prompt[]): number => Math.max(...prompts.map(tokensOf));
const summaries = (text = 'All pages had x.') => new ScriptedChatModel(() => text);
const tooLong = (): ModelCallError =>
  new ModelCallError('too long', { status: 400, contextOverflow: true });

describe('CompactionAdvisor', () => {
  for (const [options, message] of [
    [{}, 'maxTokens must be an integer >= 1, not undefined'],
    [{ maxTokens: 0 }, 'maxTokens must be an integer >= 1, not 0'],
    [{ maxTokens: 9, clearTo: 1 }, 'clearTo must be a number from 0.1 to 0.9, not 1'],
    [{ maxTokens: 9, keepIterations: 0 }, 'keepIterations must be an integer >= 1, not 0'],
    [{ maxTokens: 9, excludeTools: [''] }, 'excludeTools must be an array of names of tools'],
    [{ maxTokens: 9, model: {} }, 'model must be a chat model with call and stream'],
    [{ maxTokens: 9, tokenCounter: 4 }, 'tokenCounter must be a function, not 4'],
    [{ maxTokens: 9, name: '' }, 'name must be a non-blank string, not ""'],
    [{ maxTokens: 9, order: NaN }, 'order must be a finite number, not NaN'],
  ] as const)
    it(`rejects ${JSON.stringify(options)}`, () => {
      expect(() => new CompactionAdvisor(options as never)).to.throw(
        InvalidArgumentError,
        `CompactionAdvisor: ${message}`,
      );
    });

  it('is warned of left of the tool loop, and beside another one', () => {
    const warnings = (...options: readonly Partial<CompactionAdvisorOptions>[]) =>
      ChatClient.builder(new ScriptedChatModel([]))
        .defaultAdvisors(...options.map((each) => new CompactionAdvisor({ maxTokens: 9, ...each })))
        .build()
        .explain().warnings;

    expect(warnings({})).to.deep.equal([]);
    expect(warnings({ order: AdvisorOrder.GUARD })).to.have.length(1);
    expect(warnings({}, { name: 'second' })[0]).to.match(/both rewrite the transcript/);
  });

  for (const mode of MODES)
    describe(mode, () => {
      it('keeps 60 iterations under the limit, with whole pairs and seldom another prefix (vercel/ai#14017, deepagents#2389)', async () => {
        const sizes = Array.from({ length: 60 }, (_, at) =>
          at % 20 === 19 ? 3_000 : (at * 37) % 180,
        );

        const { response, prompts, reports } = await longTurn(mode, sizes, {
          maxTokens: MAX,
          model: summaries(),
        });

        expect(response?.text).to.equal('Done.');
        expect(largest(prompts)).to.be.at.most(MAX);
        expect(brokenPair(prompts)).to.equal(undefined);
        expect(prefixChanges(prompts)).to.be.within(1, 6);
        // a cut changes no prefix
        expect(reports.length).to.be.at.least(prefixChanges(prompts));
        for (const { before, after, reason } of reports) {
          expect(reason).to.equal('limit');
          expect(after).to.be.lessThan(before);
        }
      });

      it('clears the oldest results first, and continues from the shortened conversation', async () => {
        const { prompts, reports } = await longTurn(mode, pages(20), { maxTokens: MAX });
        const last = prompts.at(-1);

        expect(reports.map(({ strategies }) => strategies)).to.deep.equal([['clear']]);
        expect(resultOf(last, 0)).to.match(
          /^\[This result of read, 408 characters, was removed to save space\.\] Call the tool again/,
        );
        expect(resultOf(last, 19)).to.match(/^page 19: x+$/);
        // the calls stay
        expect(last?.messages).to.have.length(2 + 2 * 20);
      });

      it('does not ask the model to call a tool again that may have an effect', async () => {
        const write = defineTool({
          name: 'write',
          description: 'Writes.',
          execute: () => 'y'.repeat(2_500),
        });
        const answer = (_: Prompt, index: number) =>
          index < 8 ? { toolCalls: [{ name: 'write', arguments: { index } }] } : undefined;

        const { prompts } = await longTurn(
          mode,
          [],
          { maxTokens: MAX },
          { tools: [write], answer },
        );

        expect(
          has(
            prompts.at(-1),
            /^\[This result of write, 2500 characters, was removed to save space\.\]$/,
          ),
        ).to.equal(true);
      });

      it('keeps the latest iterations and the results of excluded tools', async () => {
        const rules = defineTool({
          name: 'rules',
          description: 'Gets the rules.',
          execute: () => `rules: ${'r'.repeat(400)}`,
        });
        const answer = (_: Prompt, index: number) =>
          index === 0 ? { toolCalls: [{ id: 'r', name: 'rules' }] } : undefined;
        const options = {
          maxTokens: MAX,
          keepIterations: 5,
          excludeTools: ['rules'],
          model: summaries(),
        };

        const { prompts, reports } = await longTurn(mode, pages(60, 200), options, {
          tools: [rules],
          answer,
        });

        expect(reports.flatMap(({ strategies }) => strategies)).to.include('summarize');
        for (const prompt of prompts.slice(1)) expect(has(prompt, /^rules: r+$/)).to.equal(true);
        for (const [at, prompt] of prompts.entries())
          for (let page = Math.max(0, at - 6); page < at - 1; page++)
            expect(resultOf(prompt, page)).to.match(/^page \d+: x+$/);
      });

      it('counts system text and the schemas of tools (langchain#34664: left out of the measure)', async () => {
        const tools = Array.from({ length: 6 }, (_, at) =>
          defineTool({ name: `tool_${at}`, description: 'd'.repeat(500), execute: () => '' }),
        );

        const { prompts, reports } = await longTurn(
          mode,
          pages(10),
          { maxTokens: MAX },
          { tools, system: 's'.repeat(1_500) },
        );

        expect(reports.length).to.be.greaterThan(0);
        expect(largest(prompts)).to.be.at.most(MAX);
      });

      it('corrects its estimate by the usage that the model reports', async () => {
        const report = (prompt: Prompt): number => Math.round(tokensOf(prompt) * 1.6);

        const { prompts, reports } = await longTurn(
          mode,
          pages(20),
          { maxTokens: MAX },
          { report },
        );

        expect(Math.max(...prompts.map(report))).to.be.within(MAX * 0.8, MAX);
        expect(reports[0]?.before).to.be.within(MAX, MAX * 1.2);
      });

      it('is not misled by usage of a part of the request', async () => {
        const { prompts } = await longTurn(
          mode,
          pages(60),
          { maxTokens: MAX },
          { report: () => 3 },
        );

        expect(largest(prompts)).to.be.at.most(2 * MAX);
      });

      it('separates no call from its result in parallel calls (deepagents#270, langchain#38352: pairs are cut)', async () => {
        let page = 0;
        const answer = (_: Prompt, index: number) =>
          index < 15
            ? {
                toolCalls: [1, 2, 3].map(() => ({
                  id: `call_${page}`,
                  name: 'read',
                  arguments: { page: page++ },
                })),
              }
            : 'Done.';

        const { prompts, reports } = await longTurn(
          mode,
          pages(45, 150),
          { maxTokens: MAX, model: summaries() },
          { answer },
        );

        expect(reports.flatMap(({ strategies }) => strategies)).to.include('summarize');
        expect(brokenPair(prompts)).to.equal(undefined);
      });

      it('cuts new results that leave no room, before the model has seen them, and clears nothing', async () => {
        const { prompts, reports } = await longTurn(mode, [40, 40, 30_000, 40], { maxTokens: MAX });

        expect(reports.map(({ strategies }) => strategies)).to.deep.equal([['cut']]);
        expect(resultOf(prompts[3], 2)).to.match(
          /^page 2: x+\n\[\d+ of 30008 characters cut\]\nx+$/,
        );
        expect(prefixChanges(prompts)).to.equal(0);
        expect(largest(prompts)).to.be.at.most(MAX);
      });

      it('cuts the same result once (eve 0.79.2: capped again and again)', async () => {
        const { prompts } = await longTurn(mode, [30_000, ...pages(12, 40)], { maxTokens: MAX });
        const cut = prompts.slice(1).map((prompt) => resultOf(prompt, 0));

        expect(new Set(cut.filter((text) => !text?.startsWith('[This result'))).size).to.equal(1);
      });

      it('never clears the last iteration: it cuts its results', async () => {
        const options = { maxTokens: 1_000, clearTo: 0.2 };

        const { prompts, response } = await longTurn(
          mode,
          [5_000, 5_000],
          { ...options },
          { system: 's'.repeat(1_600) },
        );

        expect(response?.text).to.equal('Done.');
        expect(resultOf(prompts[2], 1)).to.match(/characters cut/);
        expect(largest(prompts)).to.be.at.most(1_000);
      });

      it('fails before anything is sent if nothing may be removed, and names what is large', async () => {
        const { error, prompts } = await longTurn(
          mode,
          [],
          { maxTokens: MAX },
          { system: 's'.repeat(9_000) },
        );

        expect(error).to.be.instanceOf(LimitExceededError);
        expect(error).to.include({ limit: 'request-tokens', value: MAX, option: 'maxTokens' });
        expect((error as LimitExceededError).spent).to.be.within(2_250, 2_400);
        expect((error as Error).message).to.match(
          /system messages 22\d\d, tools and schemas \d+, .*nothing was sent; raise maxTokens/,
        );
        expect(prompts).to.have.length(0);
      });

      it('summarizes whole iterations, and each summary includes the one before (langchainjs#9629: summary ignored)', async () => {
        const model = new ScriptedChatModel((_, index) => `summary ${index}`);

        const { prompts, reports, response } = await longTurn(mode, pages(90, 200), {
          maxTokens: MAX,
          model,
        });

        expect(
          reports.filter(({ strategies }) => strategies.includes('summarize')).length,
        ).to.be.greaterThan(1);
        expect(has(model.prompts[1], 'Summary of what was before:\nsummary 0')).to.equal(true);
        const [first] = reports;
        expect(first?.strategies).to.deep.equal(['clear', 'summarize']);
        // the originals, although their results were cleared in the same step
        expect(has(model.prompts[0], 'was removed to save space')).to.equal(false);
        expect(has(model.prompts[0], /page \d+: x+/)).to.equal(true);
        const summariesInSight = textsOf(prompts.at(-1) as Prompt).filter((text) =>
          text.startsWith('Summary of'),
        );
        expect(summariesInSight).to.have.length(1);
        expect(brokenPair(prompts)).to.equal(undefined);
        const ofSummaries = response?.run?.ledger.filter(
          ({ iteration }) => iteration === undefined,
        );
        expect(ofSummaries).to.have.length(model.prompts.length);
      });

      it('keeps summaries with the same text apart', async () => {
        const model = summaries('All fine.');

        const { prompts, reports } = await longTurn(mode, pages(90, 100), {
          maxTokens: MAX,
          model,
        });

        const steps = reports.filter(({ strategies }) => strategies.includes('summarize'));
        expect(steps.length).to.be.greaterThan(1);
        for (const { after } of steps) expect(after).to.be.at.most(MAX / 2);
        expect(prompts.at(-1)?.length).to.be.lessThan(90);
      });

      it('makes no outline of what it has just summarized', async () => {
        const options = { maxTokens: MAX, model: summaries(), keepIterations: 5 };

        const { reports } = await longTurn(mode, pages(40, 800), options);

        const strategies = reports.flatMap((each) => each.strategies);
        expect(strategies).to.include('summarize');
        expect(strategies).not.to.include('remove');
      });

      it('does not clear results that are as short as the text in their place', async () => {
        const { reports } = await longTurn(mode, pages(60, 80), { maxTokens: MAX });

        expect(reports.flatMap(({ strategies }) => strategies)).to.deep.equal(['remove']);
      });

      it('continues if a summary fails, and reports it (openhuman#4461: the turn fails)', async () => {
        const failure = new ModelCallError('down');
        const model = new ScriptedChatModel(() => failure);

        const { response, reports, prompts } = await longTurn(mode, pages(60, 100), {
          maxTokens: MAX,
          model,
        });
        const [report] = reports.filter(({ failures }) => failures.length > 0);

        expect(response?.text).to.equal('Done.');
        expect(report?.failures).to.deep.equal([{ strategy: 'summarize', error: failure }]);
        expect(report?.strategies).to.include('remove');
        expect(
          has(
            prompts.at(-1),
            /Tool calls that were made, whose results are no longer shown: read \(\d+\)/,
          ),
        ).to.equal(true);
        expect(largest(prompts)).to.be.at.most(MAX);
      });

      it('summarizes once per step, not in each call (openhuman#4461: done again each time)', async () => {
        const model = summaries();

        const { reports, prompts } = await longTurn(mode, pages(60, 100), {
          maxTokens: MAX,
          model,
        });

        expect(reports.filter(({ strategies }) => strategies.includes('summarize'))).to.have.length(
          1,
        );
        expect(model.prompts.length).to.be.lessThan(prompts.length / 10);
      });

      it('refuses a summary that is longer than the summarized messages', async () => {
        const { reports } = await longTurn(mode, pages(60, 100), {
          maxTokens: MAX,
          model: summaries('s'.repeat(20_000)),
        });

        const failures = reports.flatMap((report) => report.failures);
        expect(String(failures[0]?.error)).to.match(/longer than the summarized messages/);
      });

      it('cuts a summary that leaves no room, rather than fail', async () => {
        const text = `Begun. ${'s'.repeat(7_400)}`;
        const messages = Array.from({ length: 12 }, (_, at) => [
          user(`question ${at}`),
          assistant('a'.repeat(1_000)),
        ]).flat();

        const { response, prompts, reports } = await longTurn(
          mode,
          pages(10),
          { maxTokens: MAX, model: summaries(text) },
          { messages },
        );

        expect(response?.text).to.equal('Done.');
        expect(largest(prompts)).to.be.at.most(MAX);
        expect(has(prompts[0], 'Begun.')).to.equal(true);
        expect(reports.length).to.be.at.most(2);
      });

      it('asks for summaries in requests that fit (multica#1796: the compaction is too long itself)', async () => {
        const model = summaries();
        const messages = Array.from({ length: 12 }, (_, at) => [
          user(`question ${at} ${'q'.repeat(2_000)}`),
          assistant('a'.repeat(9_000)),
        ]).flat();

        const { response } = await longTurn(mode, [], { maxTokens: MAX, model }, { messages });

        expect(response?.text).to.equal('Done.');
        expect(model.prompts.length).to.be.greaterThan(3);
        expect(largest(model.prompts)).to.be.at.most(MAX);
      });

      it('removes earlier turns with an outline of their questions if there is no model', async () => {
        const messages = Array.from({ length: 30 }, (_, at) => [
          user(`question ${at}`),
          assistant('a'.repeat(400)),
        ]).flat();

        const { prompts, reports } = await longTurn(mode, [], { maxTokens: MAX }, { messages });

        expect(reports.map(({ strategies }) => strategies)).to.deep.equal([['remove']]);
        expect(has(prompts[0], 'The user wrote: "question 0"')).to.equal(true);
        expect(has(prompts[0], /^question 29$/)).to.equal(true);
        expect(has(prompts[0], /^Read all pages\.$/)).to.equal(true);
        expect(tokensOf(prompts[0] as Prompt)).to.be.at.most(MAX / 2);
      });

      it('keeps what the user writes in the middle of the turn', async () => {
        let asked = 0;
        const steer = defineAdvisor({
          name: 'steer',
          order: AdvisorOrder.STEERING,
          traits: ['rewrites-transcript'],
          before: (request) => {
            asked++;
            return asked === 10 || asked === 20
              ? request.withTranscript((list) => [...list, user(`note ${asked}`)])
              : request;
          },
        });

        const { prompts } = await longTurn(
          mode,
          pages(60, 150),
          { maxTokens: MAX, model: summaries() },
          { advisors: [steer] },
        );

        for (const text of ['Read all pages.', 'note 10', 'note 20'])
          expect(textsOf(prompts.at(-1) as Prompt)).to.include(text);
        expect(brokenPair(prompts)).to.equal(undefined);
      });

      it('counts media, and clears them', async () => {
        const image = { type: 'image', url: 'https://example.com/a.png' } as const;
        const look = defineTool({
          name: 'look',
          description: 'Looks.',
          execute: () => toolResult({ content: [image] }),
        });
        const answer = (_: Prompt, index: number) =>
          index < 4 ? { toolCalls: [{ name: 'look', arguments: { index } }] } : undefined;

        const { reports, prompts } = await longTurn(
          mode,
          [],
          { maxTokens: 5_000, keepIterations: 1 },
          { tools: [look], answer },
        );

        expect(reports.map(({ strategies }) => strategies)).to.deep.equal([['clear']]);
        expect(has(prompts.at(-1), /with its media/)).to.equal(true);
      });

      it('keeps its summary beside advisors that change the view (agent-framework#7744: lost with any middleware)', async () => {
        const clock = (name: string, order: number) =>
          defineAdvisor({
            name,
            order,
            before: (request) =>
              request.withPrompt(
                request.prompt.augmentUserMessage((text) => `${text} It is 12:00.`),
              ),
          });
        const advisors = [
          clock('left', AdvisorOrder.COMPACTION - 1),
          clock('right', AdvisorOrder.LOGGER),
        ];
        const model = summaries();

        const { prompts, reports } = await longTurn(
          mode,
          pages(60, 100),
          { maxTokens: MAX, model },
          { advisors },
        );
        const first = prompts.findIndex((prompt) => has(prompt, 'All pages had x.'));

        expect(first).to.be.greaterThan(0);
        for (const prompt of prompts.slice(first))
          expect(has(prompt, 'All pages had x.')).to.equal(true);
        expect(reports.filter(({ strategies }) => strategies.includes('summarize'))).to.have.length(
          1,
        );
        expect(model.prompts.length).to.be.lessThan(prompts.length / 10);
        expect(largest(prompts)).to.be.at.most(MAX + 30);
      });

      it('keeps the summary of another compaction (agent-framework#7744)', async () => {
        const options = [
          { maxTokens: MAX, model: summaries('first') },
          {
            maxTokens: MAX,
            model: summaries('second'),
            name: 'second',
            order: AdvisorOrder.COMPACTION + 1,
          },
        ];

        const { prompts, response } = await longTurn(mode, pages(60, 100), options);
        const from = prompts.findIndex((prompt) => has(prompt, 'first'));

        expect(response?.text).to.equal('Done.');
        expect(from).to.be.greaterThan(0);
        for (const prompt of prompts.slice(from)) expect(has(prompt, 'first')).to.equal(true);
      });

      it('makes no second summary when an attempt is repeated from the left', async () => {
        const model = summaries();
        const retry = new RetryAdvisor({ firstDelay: 0, order: AdvisorOrder.COMPACTION - 1 });
        let failed = false;
        const answer = (prompt: Prompt) => {
          if (failed || !has(prompt, 'All pages had x.')) return undefined;
          failed = true;
          return new ModelCallError('busy', { retryable: true });
        };

        const { response, reports } = await longTurn(
          mode,
          pages(50, 100),
          { maxTokens: MAX, model },
          { answer, advisors: [retry] },
        );

        expect(response?.text).to.equal('Done.');
        expect(failed).to.equal(true);
        expect(reports.filter(({ strategies }) => strategies.includes('summarize'))).to.have.length(
          1,
        );
      });

      it('serves concurrent turns', async () => {
        const advisors = [new CompactionAdvisor({ maxTokens: MAX })];
        const run = (count: number) => longTurn(mode, pages(count), [], { advisors });

        const turns = await Promise.all([12, 20, 28].map(run));

        for (const { prompts, response } of turns) {
          expect(response?.text).to.equal('Done.');
          expect(largest(prompts)).to.be.at.most(MAX);
        }
      });

      it('ends a summary when the run is cancelled', async () => {
        const controller = new AbortController();
        let asked = 0;
        const model = new ScriptedChatModel(() => {
          asked++;
          queueMicrotask(() => controller.abort());
          return { text: 'overdue', delay: 1_000 };
        });

        const { error, prompts } = await longTurn(
          mode,
          pages(60, 100),
          { maxTokens: MAX, model },
          { signal: controller.signal },
        );

        expect(error).to.include({ code: 'cancelled' });
        expect(asked).to.equal(1);
        expect(prompts.length).to.be.lessThan(60);
      });

      it('shortens a request that the provider refuses as too long, and asks again (ironclaw#260, opencode#8089, thebotcompany#98)', async () => {
        let refused = 0;
        const answer = (prompt: Prompt) => {
          if (tokensOf(prompt) <= 900) return undefined;
          refused++;
          return { text: 'half an ans', error: tooLong() };
        };
        const model = summaries();

        const { response, reports, prompts } = await longTurn(
          mode,
          pages(20, 200),
          { maxTokens: 100_000, model },
          { answer },
        );

        expect(response?.text).to.equal('Done.');
        expect(reports.every(({ reason }) => reason === 'overflow')).to.equal(false);
        expect(refused).to.equal(1);
        expect(reports[0]).to.include({ reason: 'overflow' });
        expect(reports[0]?.strategies).not.to.include('summarize');
        expect(brokenPair(prompts)).to.equal(undefined);
      });

      it('shortens once: the second refusal is the error of the turn', async () => {
        const errors: ModelCallError[] = [];
        const answer = (_: Prompt, index: number) => {
          if (index < 10) return undefined;
          const error = tooLong();
          errors.push(error);
          return error;
        };

        const { error, prompts } = await longTurn(
          mode,
          pages(20, 200),
          { maxTokens: 100_000 },
          { answer },
        );

        expect(errors).to.have.length(2);
        expect(error).to.equal(errors[1]);
        expect(prompts).to.have.length(12);
      });

      it('does not repeat a request that cannot be shorter', async () => {
        const error = tooLong();

        const outcome = await longTurn(mode, [], { maxTokens: MAX }, { answer: () => error });

        expect(outcome.error).to.equal(error);
        expect(outcome.prompts).to.have.length(1);
      });

      for (const finishReason of ['length', 'model_context_window_exceeded'])
        it(`asks again if there was no room for an answer: ${finishReason} (hermes#5360: thinking alone)`, async () => {
          let starved = 0;
          const answer = (prompt: Prompt) => {
            if (tokensOf(prompt) <= 900) return undefined;
            starved++;
            return { text: '', reasoning: 'Let me think', finishReason };
          };

          const { response, reports } = await longTurn(
            mode,
            pages(14, 200),
            { maxTokens: 1_600 },
            { answer },
          );

          expect(response?.text).to.equal('Done.');
          expect(starved).to.equal(1);
          expect(reports[0]).to.include({ reason: 'overflow' });
        });

      it('takes an empty answer of a short request for what it is', async () => {
        const answer = () => ({ text: '', reasoning: 'Let me think', finishReason: 'length' });

        const { response, prompts } = await longTurn(mode, [], { maxTokens: MAX }, { answer });

        expect(response?.finishReason).to.equal('length');
        expect(prompts).to.have.length(1);
      });

      it('retracts what a refused request has streamed', async () => {
        if (mode === 'call') return;
        const answer = (prompt: Prompt) =>
          tokensOf(prompt) > 900 ? { text: 'half an ans', error: tooLong() } : undefined;

        const { events } = await longTurn(mode, pages(14, 200), { maxTokens: 100_000 }, { answer });
        const shown = events.filter(({ type }) => type === 'retract' || type === 'text-delta');

        expect(shown.some(({ type }) => type === 'retract')).to.equal(true);
        expect(
          shown.slice(shown.findLastIndex(({ type }) => type === 'retract') + 1),
        ).to.deep.equal([{ type: 'text-delta', text: 'Done.' }]);
      });
    });

  it('corrects the first request of a later turn by what it has learned about the model', async () => {
    const report = (prompt: Prompt): number => Math.round(tokensOf(prompt) * 1.6);
    const model = new ScriptedChatModel((prompt) => {
      const inputTokens = report(prompt);
      return { text: 'a', usage: { inputTokens, outputTokens: 1, totalTokens: inputTokens + 1 } };
    });
    const client = ChatClient.builder(model)
      .defaultAdvisors(new CompactionAdvisor({ maxTokens: MAX }))
      .build();
    const history = Array.from({ length: 15 }, (_, at) => [
      user(`question ${at}`),
      assistant('a'.repeat(380)),
    ]).flat();

    await runSpec('call', client.prompt('Hello?'));
    await runSpec('call', client.prompt('And now?').messages(...history));

    const [, second] = model.prompts;
    expect(tokensOf(second as Prompt)).to.be.at.most(MAX / 1.6);
  });

  it('works without a tool loop', async () => {
    const model = new ScriptedChatModel(['Hello.']);
    const messages: readonly Message[] = Array.from({ length: 40 }, (_, at) => [
      user(`question ${at}`),
      assistant('a'.repeat(300)),
    ]).flat();

    const response = await runSpec(
      'call',
      ChatClient.create(model)
        .prompt('?')
        .messages(...messages)
        .advisors(new CompactionAdvisor({ maxTokens: MAX })),
    );

    expect(response.text).to.equal('Hello.');
    expect(largest(model.prompts)).to.be.at.most(MAX);
  });
});
