import { expect } from 'chai';
import { lastValueFrom, tap } from 'rxjs';
import { z } from 'zod';
import {
  ChatClient,
  defineTool,
  LimitExceededError,
  Prompt,
  textOf,
  toolCallingAutoRegister,
  ToolCallingManager,
  type ChatEvent,
  type ChatOptions,
  type ChatResponse,
  type ToolExecutionResult,
} from '../../src/index.js';
import { ScriptedChatModel, type Script } from '../../src/testing/index.js';
import { rejection } from '../support/batch.js';

const CITIES = ['Rome', 'Oslo', 'Lima'];
const TEMPERATURES: Readonly<Record<string, number>> = { Rome: 30, Oslo: 15, Lima: 10 };

const weather = defineTool({
  name: 'weather',
  description: 'Current temperature of a city',
  input: z.object({ city: z.string() }),
  execute: ({ city }) => ({ city, celsius: TEMPERATURES[city] }),
});

const call = (...cities: readonly string[]) => ({
  text: 'One moment.',
  toolCalls: cities.map((city) => ({ name: 'weather', arguments: { city } })),
});

/** Asks for two cities, then for one, then answers with the results. */
const script: Script = (prompt, index) => {
  if (index === 0) return call('Rome', 'Oslo');
  if (index === 1) return call('Lima');
  return prompt.messages
    .flatMap((message) => (message.role === 'tool' ? [textOf(message.content)] : []))
    .join(' ');
};

type Ask = (prompt: Prompt) => Promise<ChatResponse>;

/** The loop as a user writes it. */
async function loop(
  ask: Ask,
  prompt: Prompt,
  manager: ToolCallingManager,
  answers: ChatResponse[] = [],
): Promise<ChatResponse> {
  let next = prompt;
  let response = await ask(next);
  while (answers.push(response) && response.hasToolCalls()) {
    const result: ToolExecutionResult = await manager.executeToolCalls(next, response);
    next = result.prompt;
    response = await ask(next);
  }
  return response;
}

describe('a user-controlled loop', () => {
  const options: ChatOptions = { tools: [weather], toolChoice: 'required' };
  const start = (): Prompt =>
    new Prompt([{ role: 'user', content: `How warm is it in ${CITIES.join(', ')}?` }], options);
  const deltas: string[] = [];

  const asks: Readonly<Record<string, (model: ScriptedChatModel) => Ask>> = {
    call: (model) => {
      const client = ChatClient.builder(model)
        .defaultAdvisors(toolCallingAutoRegister(false))
        .build();
      return (prompt) => client.prompt(prompt).call().chatResponse();
    },
    stream: (model) => {
      const client = ChatClient.builder(model)
        .defaultAdvisors(toolCallingAutoRegister(false))
        .build();
      const record = (event: ChatEvent): void =>
        void (event.type === 'text-delta' && deltas.push(event.text));
      return async (prompt) => {
        const last = await lastValueFrom(client.prompt(prompt).stream().events().pipe(tap(record)));
        return (last as ChatEvent & { type: 'response' }).response;
      };
    },
    'the model itself': (model) => (prompt) => model.call(prompt),
  };

  for (const [how, askOf] of Object.entries(asks)) {
    describe(`with ${how}`, () => {
      it('[REG-26] ends with an answer from the results of all calls', async () => {
        deltas.length = 0;
        const model = new ScriptedChatModel(script);
        const answers: ChatResponse[] = [];
        const response = await loop(askOf(model), start(), new ToolCallingManager(), answers);

        expect(response.text).to.equal(
          '{"city":"Rome","celsius":30} {"city":"Oslo","celsius":15} {"city":"Lima","celsius":10}',
        );
        expect(answers.map((answer) => answer.hasToolCalls())).to.deep.equal([true, true, false]);
        expect(model.prompts[2]?.messages.map((message) => message.role)).to.deep.equal([
          'user',
          'assistant',
          'tool',
          'tool',
          'assistant',
          'tool',
        ]);
        expect(model.prompts.every((prompt) => prompt.options.tools?.[0] === weather)).to.equal(
          true,
        );
        if (how === 'stream')
          expect(deltas.join('')).to.equal(`One moment.One moment.${response.text}`);
      });

      it('[F6] forces a call in the first iteration only', async () => {
        const model = new ScriptedChatModel(script);
        await loop(askOf(model), start(), new ToolCallingManager());

        expect(model.prompts.map((prompt) => prompt.options.toolChoice)).to.deep.equal([
          'required',
          'auto',
          'auto',
        ]);
      });

      it('[REG-27] rejects at a limit, with all results', async () => {
        const manager = new ToolCallingManager({ maxCallsByTool: { weather: 2 } });
        const error = (await rejection(
          loop(askOf(new ScriptedChatModel(script)), start(), manager),
        )) as LimitExceededError<ToolExecutionResult, ChatResponse>;

        expect(error)
          .to.be.instanceOf(LimitExceededError)
          .and.to.include({ limit: 'calls-per-tool', value: 2, toolName: 'weather' });
        expect(error.result.history.map((message) => message.role)).to.deep.equal([
          'user',
          'assistant',
          'tool',
          'tool',
          'assistant',
          'tool',
        ]);
        expect(error.response.hasToolCalls()).to.equal(true);
      });

      it('continues after the history of a result was changed', async () => {
        const model = new ScriptedChatModel([call('Rome'), 'Done.']);
        const ask = askOf(model);
        const first = await ask(start());
        const { history } = await new ToolCallingManager().executeToolCalls(start(), first);
        const response = await ask(
          new Prompt([{ role: 'system', content: 'Be brief.' }, ...history], { tools: [weather] }),
        );

        expect(response.text).to.equal('Done.');
        expect(model.prompts[1]?.messages.map((message) => message.role)).to.deep.equal([
          'system',
          'user',
          'assistant',
          'tool',
        ]);
      });
    });
  }

  it('reports returnDirect and leaves its handling to the user', async () => {
    const report = defineTool({ name: 'report', returnDirect: true, execute: () => 'The report.' });
    const model = new ScriptedChatModel([{ toolCalls: [{ name: 'report' }] }]);
    const prompt = new Prompt('Report.', { tools: [report] });
    const result = await new ToolCallingManager().executeToolCalls(
      prompt,
      await model.call(prompt),
    );

    expect([result.returnDirect, result.messages[0]?.content]).to.deep.equal([true, 'The report.']);
  });
});
