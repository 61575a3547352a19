import { expect } from 'chai';
import type { ToolCallingAdvisorOptions } from '../../advisors/tool-calling-advisor.js';
import {
  defineTool,
  InvalidArgumentError,
  LimitExceededError,
  textOf,
  ToolCallingAdvisor,
  ToolError,
  toolResult,
  type Advisor,
  type Prompt,
  type Tool,
  type ToolMetadata,
} from '../../src/index.js';
import { ScriptedChatModel, type Script, type ScriptedAnswer } from '../../src/testing/index.js';
import { inConversation, setUpMemory, storedTexts } from '../support/memory-advisor.js';
import { failureOf, MODES, runSpec } from '../support/modes.js';
import { RecordedObservation } from '../support/recorded-observation.js';
import { runTurn } from '../support/turn.js';

const HINT =
  '[The last tool calls brought nothing new. Do something else, or answer with what you have.]';

/** A tool whose results are made of its arguments and the number of its calls. */
function tool(
  name: string,
  result: (args: Readonly<Record<string, unknown>>, count: number) => unknown,
  metadata: Pick<ToolMetadata, 'effect' | 'polls'> = {},
): Tool & { readonly runs: number[] } {
  const runs: number[] = [];
  const execute = (args: Readonly<Record<string, unknown>>): unknown => {
    runs.push(runs.length);
    return result(args, runs.length);
  };
  return { ...defineTool({ name, ...metadata, execute }), runs } as never;
}

const namesOf = ({ options }: Prompt): readonly string[] =>
  (options.tools ?? []).map(({ definition }) => definition.name);

/** A model that makes its calls as long as their tools are offered. */
const stubborn =
  (
    answer: (index: number) => {
      name: string;
      arguments: Readonly<Record<string, unknown>>;
      text?: string;
    },
  ): Script =>
  (prompt, index): ScriptedAnswer => {
    const { name, arguments: args, text } = answer(index);
    if (!namesOf(prompt).includes(name)) return 'I stop.';
    return { ...(text !== undefined && { text }), toolCalls: [{ name, arguments: args }] };
  };

/** Results that the model has read. */
const resultsOf = (model: ScriptedChatModel): readonly string[] =>
  (model.prompts.at(-1)?.messages ?? []).flatMap((message) =>
    message.role === 'tool' ? textOf(message.content) : [],
  );
const hintsOf = (model: ScriptedChatModel): readonly number[] =>
  resultsOf(model).flatMap((text, at) => (text.includes(HINT) ? at + 1 : []));

for (const mode of MODES)
  describe(`ToolCallingAdvisor without progress: ${mode}`, () => {
    const run = async (
      script: Script,
      tools: readonly Tool[],
      loop: ToolCallingAdvisorOptions = {},
    ) => {
      const model = new ScriptedChatModel(script);
      const { response } = await runTurn(mode, model, { tools, loop });
      return { model, response, hints: hintsOf(model) };
    };

    it('[F1] stops ping-pong of two calls that give the same results (deepagents#6441, openclaw#52759)', async () => {
      const [a, b] = [tool('a', () => 'A'), tool('b', () => 'B')];
      const script = stubborn((index) => ({ name: index % 2 ? 'b' : 'a', arguments: {} }));

      const { model, response, hints } = await run(script, [a, b]);

      expect([a.runs.length, b.runs.length]).to.deep.equal([4, 4]);
      expect(hints).to.deep.equal([5, 8]);
      expect(model.prompts.map((prompt) => namesOf(prompt).length).slice(-2)).to.deep.equal([2, 0]);
      expect(response.text).to.equal('I stop.');
    });

    it('lets two calls alternate that give something new each time', async () => {
      const next = tool('next', (_, count) => `page ${count}`);
      const script = stubborn((index) => ({ name: 'next', arguments: { n: index % 2 } }));

      const { hints } = await run(script, [next], { maxIterations: 15 });

      expect([next.runs.length, hints]).to.deep.equal([15, []]);
    });

    it('stops a circle of three calls', async () => {
      const go = tool('go', ({ to }) => `You are at ${String(to)}.`);
      const script = stubborn((index) => ({ name: 'go', arguments: { to: index % 3 } }));

      expect((await run(script, [go])).hints).to.deep.equal([6, 9]);
    });

    it('[F1] stops the same error of a tool, whatever the arguments are (deepagents#3583, nanobot#5344)', async () => {
      const pay = tool('pay', () => {
        throw new ToolError('The account is closed.');
      });
      const script = stubborn((index) => ({ name: 'pay', arguments: { index } }));

      const { hints, response } = await run(script, [pay]);

      expect([pay.runs.length, hints, response.text]).to.deep.equal([7, [4, 7], 'I stop.']);
    });

    it('takes errors of a tool that differ in the id of the call for the same', async () => {
      const broken = tool('broken', () => {
        throw new Error('secret');
      });
      const script = stubborn((index) => ({ name: 'broken', arguments: { index } }));

      expect((await run(script, [broken])).hints).to.deep.equal([4, 7]);
    });

    it('stops arguments that stay invalid', async () => {
      const strict = defineTool({
        name: 'strict',
        input: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] },
        execute: () => 'fine',
      });
      const script = stubborn((index) => ({ name: 'strict', arguments: { id: `no ${index}` } }));

      expect((await run(script, [strict])).hints).to.deep.equal([4, 7]);
    });

    it('lets a model correct itself: other errors are something new', async () => {
      const parse = tool('parse', ({ index }) => {
        throw new ToolError(`Line ${String(index)} is wrong.`);
      });
      const script = stubborn((index) => ({ name: 'parse', arguments: { index } }));

      expect((await run(script, [parse], { maxIterations: 12 })).hints).to.deep.equal([]);
    });

    it('[F1] stops a reading tool that finds the same for all arguments (crewAI#4684)', async () => {
      const search = tool('search', () => '[]', { effect: 'read' });
      const script = stubborn((index) => ({ name: 'search', arguments: { query: `q${index}` } }));

      expect((await run(script, [search])).hints).to.deep.equal([4, 7]);
    });

    it('does not take "Done" of a tool with effects for the same result', async () => {
      const save = tool('save', () => undefined, { effect: 'write' });
      const run1 = tool('run', () => 'ok');
      const script = stubborn((index) => ({
        name: index % 2 ? 'run' : 'save',
        arguments: { index },
      }));

      expect((await run(script, [save, run1], { maxIterations: 15 })).hints).to.deep.equal([]);
    });

    it('stops the same text with the same calls, although results have the time', async () => {
      const look = tool('look', (_, count) => `12:00:${count}`, { effect: 'read' });
      const script = stubborn((index) => ({
        name: 'look',
        arguments: { side: index % 2 },
        text: `Side ${index % 2}.`,
      }));

      expect((await run(script, [look])).hints).to.deep.equal([5, 8]);
    });

    it('lets a model scroll and read with the same words: after an effect, the same reading is another one', async () => {
      const scroll = tool('scroll', () => 'ok', { effect: 'write' });
      const read = tool('read', (_, count) => `page ${count}`, { effect: 'read' });
      const script = stubborn((index) => ({
        name: index % 2 ? 'read' : 'scroll',
        arguments: {},
        text: index % 2 ? 'I read.' : 'I scroll.',
      }));

      expect((await run(script, [scroll, read], { maxIterations: 20 })).hints).to.deep.equal([]);
    });

    it('takes a polling tool with effects for an effect between two readings', async () => {
      const press = tool('press', () => 'ok', { polls: true });
      const read = tool('read', (_, count) => `page ${count}`, { effect: 'read' });
      const script = stubborn((index) => ({
        name: index % 2 ? 'read' : 'press',
        arguments: {},
        text: 'Next.',
      }));

      expect((await run(script, [press, read], { maxIterations: 20 })).hints).to.deep.equal([]);
    });

    for (const value of [true, false, 0, -12.5, '1,000'])
      it(`takes ${JSON.stringify(value)} for another argument for something new`, async () => {
        const exists = tool('exists', () => value, { effect: 'read' });
        const script = stubborn((index) => ({ name: 'exists', arguments: { file: index } }));

        expect((await run(script, [exists], { maxIterations: 12 })).hints).to.deep.equal([]);
      });

    it('takes true for the same arguments, written differently, for known', async () => {
      const exists = tool('exists', () => true, { effect: 'read' });
      const args = [{ a: 1, b: 2 }, { a: 2 }, { b: 2, a: 1 }, { a: 2 }];
      const script = stubborn((index) => ({ name: 'exists', arguments: args[index % 4] ?? {} }));

      expect((await run(script, [exists])).hints).to.deep.equal([5, 8]);
    });

    it('lets a model ask again for an answer that changes, such as a random one', async () => {
      const lots = tool('draw', (_args, at) => (at % 2 === 0 ? 'cars' : 'penguins'));
      const script: Script = (_prompt, index) =>
        index < 7 ? { toolCalls: [{ name: 'draw', arguments: {} }] } : 'Both.';

      const { response, hints } = await run(script, [lots], { maxIdenticalCalls: Infinity });

      expect(hints).to.deep.equal([]);
      expect(response.text).to.equal('Both.');
    });

    it('lets a model read a page twice, and a list page by page', async () => {
      const list = tool('list', ({ page }) => `page ${String(page)}`, { effect: 'read' });
      const pages = [0, 1, 0, 2, 3, 3, 4, 2, 5, 6];
      const script = stubborn((index) => ({ name: 'list', arguments: { page: pages[index] } }));

      expect((await run(script, [list], { maxIterations: 10 })).hints).to.deep.equal([]);
    });

    it('lets a model write the same before calls that bring something new', async () => {
      const read = tool('read', ({ page }) => `page ${String(page)}`, { effect: 'read' });
      const script = stubborn((page) => ({ name: 'read', arguments: { page }, text: 'Reading.' }));

      expect((await run(script, [read], { maxIterations: 12 })).hints).to.deep.equal([]);
    });

    it('does not compare results with media', async () => {
      const shot = defineTool({
        name: 'shot',
        effect: 'read',
        execute: () => toolResult({ content: [{ type: 'image', url: 'https://x.example/1.png' }] }),
      });
      const script = stubborn((index) => ({ name: 'shot', arguments: { index } }));

      expect((await run(script, [shot], { maxIterations: 9 })).hints).to.deep.equal([]);
    });

    it('decision 0009: hits no polling tool: polls exempts it from every rule', async () => {
      const status = tool('status', () => 'running', { effect: 'read', polls: true });
      const script = stubborn(() => ({ name: 'status', arguments: {} }));

      const { hints } = await run(script, [status], { maxIterations: 20 });

      expect([status.runs.length, hints]).to.deep.equal([20, []]);
    });

    it('counts the other calls of a batch with a polling tool', async () => {
      const status = tool('status', (_, count) => `running ${count}`, { polls: true });
      const look = tool('look', () => 'nothing');
      const script: Script = (prompt) =>
        namesOf(prompt).length > 0
          ? { toolCalls: [{ name: 'status' }, { name: 'look' }] }
          : 'I stop.';

      await run(script, [status, look]);

      expect([status.runs.length, look.runs.length]).to.deep.equal([3, 3]);
    });

    it('continues between polls from where it was', async () => {
      const status = tool('status', () => 'running', { polls: true });
      const look = tool('look', () => 'nothing');
      const script = stubborn((index) => ({ name: index % 2 ? 'status' : 'look', arguments: {} }));

      expect((await run(script, [status, look])).hints).to.deep.equal([7, 13]);
    });

    it('takes the results of a batch in another order for known', async () => {
      const read = tool('read', ({ page }) => `page ${String(page)}`, { effect: 'read' });
      const script: Script = (prompt, index) => {
        const pages = index % 2 ? [1, 2, 3] : [3, 1, 2];
        const toolCalls = pages.map((page) => ({ name: 'read', arguments: { page } }));
        return namesOf(prompt).length > 0 ? { toolCalls } : 'I stop.';
      };

      await run(script, [read]);

      expect(read.runs.length).to.equal(7 * 3);
    });

    it('takes the tool off and leaves the others', async () => {
      const [bad, good] = [tool('bad', () => 'no', { effect: 'read' }), tool('good', () => 'yes')];
      const script: Script = (prompt, index) => {
        if (namesOf(prompt).includes('bad'))
          return { toolCalls: [{ name: 'bad', arguments: { index } }] };
        return resultsOfPrompt(prompt).at(-1) === 'yes'
          ? 'Done.'
          : { toolCalls: [{ name: 'good' }] };
      };

      const { model, response } = await run(script, [bad, good]);

      expect(
        model.prompts.at(-1)?.options.tools?.map((each) => each.definition.name),
      ).to.deep.equal(['good']);
      expect(resultsOf(model)[6]).to.equal(`no\n\n${HINT} Not available any more: "bad".`);
      expect(response.text).to.equal('Done.');
    });

    it('takes off only tools of the iterations that brought nothing new', async () => {
      const [a, b] = ['a', 'b'].map((name) => tool(name, () => name, { effect: 'read' }));
      const fresh = tool('fresh', () => 'new');
      const names = [...Array<string>(4).fill('a'), 'fresh', ...Array<string>(9).fill('b')];
      const script = stubborn((index) => ({ name: names[index] as string, arguments: { index } }));

      const { model } = await run(script, [a as Tool, b as Tool, fresh]);

      expect(namesOf(model.prompts.at(-1) as Prompt)).to.deep.equal(['a', 'fresh']);
    });

    it('lets a turn read again what it has read many iterations ago', async () => {
      const go = tool('go', ({ to }) => `You are at ${String(to)}.`);
      const script = stubborn((index) => ({ name: 'go', arguments: { to: index % 9 } }));

      expect((await run(script, [go], { maxIterations: 20 })).hints).to.deep.equal([]);
    });

    it('ends with an answer if the model insists on the tool', async () => {
      const search = tool('search', () => '[]', { effect: 'read' });
      const other = tool('other', () => 'unused');
      const script: Script = (prompt, index) =>
        namesOf(prompt).length > 0
          ? { toolCalls: [{ name: 'search', arguments: { index } }] }
          : 'I found nothing.';

      const { response, model } = await run(script, [search, other]);

      expect([search.runs.length, model.prompts.length]).to.deep.equal([7, 10]);
      expect(response.text).to.equal('I found nothing.');
      expect(response.metadata?.['limit']).to.deep.equal({
        limit: 'no-progress',
        max: 8,
        spent: 8,
        toolName: undefined,
      });
    });

    it('starts again from the first step after something new', async () => {
      const read = tool('read', ({ n }) => (Number(n) % 4 === 0 ? `new ${String(n)}` : 'old'), {
        effect: 'read',
      });
      const script = stubborn((n) => ({ name: 'read', arguments: { n } }));

      const { hints } = await run(script, [read], { maxIterations: 13 });

      expect(hints).to.deep.equal([8, 12]);
    });

    it('ends with an error on request', async () => {
      const search = tool('search', () => '[]', { effect: 'read' });
      const script = stubborn((index) => ({ name: 'search', arguments: { index } }));
      const loop = { onLimit: 'throw', noProgress: { toolOffAfter: Infinity } } as const;

      const error = await failureOf(run(script, [search], loop));

      expect(error).to.be.instanceOf(LimitExceededError);
      expect(error).to.include({
        limit: 'no-progress',
        value: 8,
        spent: 8,
        option: 'noProgress.answerAfter',
        message:
          'The turn was stopped: 8 iterations in a row brought nothing new; raise noProgress.answerAfter to change it.',
      });
    });

    it('reports the limit to the observation', async () => {
      const search = tool('search', () => '[]', { effect: 'read' });
      const script: Script = (prompt, index) =>
        namesOf(prompt).length > 0
          ? { toolCalls: [{ name: 'search', arguments: { index } }] }
          : 'I stop.';
      const observation = new RecordedObservation();
      const loop = { noProgress: { hintAfter: 1, toolOffAfter: Infinity, answerAfter: 2 } };

      const observer: Advisor = {
        name: 'observer',
        order: 2,
        advise: (request, chain) => chain.next(request.with({ observation })),
      };

      await runTurn(mode, script, { tools: [search], loop, advisors: [observer] });

      expect(observation.notes.filter(({ type }) => type === 'limit')).to.deep.equal([
        { type: 'limit', limit: 'no-progress', max: 2 },
      ]);
    });

    it('can be turned off', async () => {
      const search = tool('search', () => '[]', { effect: 'read' });
      const script = stubborn((index) => ({ name: 'search', arguments: { index } }));

      const { hints } = await run(script, [search], { noProgress: false, maxIterations: 15 });

      expect([search.runs.length, hints]).to.deep.equal([15, []]);
    });

    it('stores no hint as a message of the user', async () => {
      const script = stubborn((index) => ({ name: 'search', arguments: { index } }));
      const search = tool('search', () => '[]', { effect: 'read' });
      const { client, repository } = setUpMemory(script, {}, new ToolCallingAdvisor());

      await runSpec(mode, inConversation(client.prompt('q').tools(search)));

      expect(await storedTexts(repository)).to.deep.equal(['q', 'I stop.']);
    });
  });

const resultsOfPrompt = ({ messages }: Prompt): readonly string[] =>
  messages.flatMap((message) => (message.role === 'tool' ? textOf(message.content) : []));

describe('ToolCallingAdvisor: noProgress', () => {
  for (const [noProgress, message] of [
    [true, 'noProgress must be an object or false, not true'],
    [{ hintAfter: 0 }, 'noProgress.hintAfter must be an integer >= 1 or Infinity, not 0'],
    [{ answerAfter: 1.5 }, 'noProgress.answerAfter must be an integer >= 1 or Infinity, not 1.5'],
  ] as const)
    it(`rejects ${JSON.stringify(noProgress)}`, () => {
      expect(() => new ToolCallingAdvisor({ noProgress } as never)).to.throw(
        InvalidArgumentError,
        `ToolCallingAdvisor: ${message}`,
      );
    });
});
