import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { expect } from 'chai';
import { z } from 'zod';
import { ChatClient, ContextKey, defineAdvisor, defineTool, mergeOptions, Prompt, toolResult, type Message } from '../../src/index.js';
import { OpenAIChatModel } from '../../src/models/openai/index.js';
import { ScriptedChatModel } from '../../src/testing/index.js';
import { jsonSchemaValidator } from '../../src/tool/schema/validation.js';

const KEY = 'Zq81xT0pSecretKeyValue9876543210abcdefg';

/** Behaviour across parts of the library that an independent reading found wrong, once. */
describe('across the parts', () => {
  describe('[F93] a key in the answer of a server', () => {
    let server: Server;
    let answer: { readonly status: number; readonly type: string; readonly body: string };

    beforeEach(async () => {
      server = createServer((request, response) => {
        request.resume();
        response.writeHead(answer.status, { 'content-type': answer.type }).end(answer.body);
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    });
    afterEach(() => new Promise((resolve) => server.close(resolve)));

    const failure = async (): Promise<string> => {
      const { port } = server.address() as AddressInfo;
      const model = new OpenAIChatModel({ model: 'm', apiKey: KEY, baseURL: `http://127.0.0.1:${port}/v1`, maxRetries: 0 });
      const error: unknown = await model.call(new Prompt('hi')).catch((reason: unknown) => reason);
      return inspect(error, { depth: 10 }) + JSON.stringify(error);
    };

    for (const [where, given] of Object.entries({
      'a page, where it is cut': { status: 500, type: 'text/html', body: `<p>${'x'.repeat(475)}${KEY}</p>` },
      'a JSON error, where it is cut': {
        status: 500,
        type: 'application/json',
        body: JSON.stringify({ detail: [`${'x'.repeat(460)}${KEY}`] }),
      },
      'a content type': { status: 200, type: `text/${KEY}`, body: '<html></html>' },
    })) {
      it(`is not in the error: ${where}`, async () => {
        answer = given;
        expect(await failure()).not.to.contain(KEY.slice(0, 12));
      });
    }
  });

  it('[F85] a pattern that is not looked at refuses nothing below not, if and oneOf', () => {
    const dates = {
      oneOf: [
        { type: 'string', format: 'date' },
        { type: 'string', format: 'date-time' },
      ],
    };
    const safe = { type: 'string', not: { pattern: '\\.\\.' } };
    const either = { type: 'object', if: { properties: { url: { pattern: '^http' } } }, then: { required: ['token'] } };

    expect(jsonSchemaValidator(dates)('2025-01-01')).to.deep.equal({ value: '2025-01-01' });
    expect(jsonSchemaValidator(safe)('ok')).to.deep.equal({ value: 'ok' });
    expect(jsonSchemaValidator(either)({ url: 'ok' })).to.deep.equal({ value: { url: 'ok' } });
    expect(jsonSchemaValidator({ not: { type: 'string' } })('x')).to.have.property('issues');
  });

  it('[F75] a text without params is no template, whatever the params of the default text are', async () => {
    const model = new ScriptedChatModel(() => 'ok');
    const client = ChatClient.builder(model)
      .defaultUser('About {tenant}', { tenant: 'SECRET' })
      .defaultSystem('For {who}', { who: 'x' })
      .build();

    await client.prompt().system('Reply like {"a": {answer}}').user('print {tenant} please').call().content();

    expect(model.prompts[0]?.messages).to.deep.equal([
      { role: 'system', text: 'Reply like {"a": {answer}}' },
      { role: 'user', content: 'print {tenant} please' },
    ]);
  });

  it('[F38] tools that run together keep what each of them hands to the advisors', async () => {
    const keys = ['a', 'b'].map((name) => new ContextKey<number>(name, 0));
    const tools = keys.map((key) =>
      defineTool({
        name: key.name,
        execute: (_args, { advisorContext }) =>
          toolResult({ content: 'ok', context: advisorContext.with(key, advisorContext.get(key) + 1) }),
      }),
    );
    const calls = { toolCalls: keys.map(({ name }) => ({ name })) };
    const model = new ScriptedChatModel([calls, { toolCalls: [...calls.toolCalls].reverse() }, 'done']);

    const { context } = await ChatClient.create(model)
      .prompt('go')
      .tools(...tools)
      .call()
      .chatClientResponse();

    expect(keys.map((key) => context.get(key))).to.deep.equal([2, 2]);
  });

  it('[F76] a prompt is not changed by the array that it was made of', () => {
    const messages: Message[] = [{ role: 'user', content: 'a' }];
    const prompt = new Prompt('x').withMessages(messages);
    messages.push({ role: 'user', content: 'b' });

    expect(prompt.append({ role: 'user', content: 'c' }).messages).to.have.lengthOf(2);
    expect(() => prompt.withMessages([{ role: 'human' } as unknown as Message])).to.throw('unknown role "human"');
  });

  it('[F26] a tool that fails beside its own second attempt is told to the model', async () => {
    let runs = 0;
    const flaky = defineTool({ name: 'flaky', execute: () => (++runs === 1 ? 'fine' : Promise.reject(new Error('late'))) });
    const hedge = defineAdvisor({
      name: 'hedge',
      order: 1,
      aroundTool: async (call, next) => (await Promise.all([next(call), next(call)]))[0],
    });
    const model = new ScriptedChatModel([{ toolCalls: [{ name: 'flaky' }] }, 'done']);

    expect(await ChatClient.create(model).prompt('go').tools(flaky).advisors(hedge).call().content()).to.equal('done');
  });

  it('reads null for an optional field of an entity as left out', async () => {
    const model = new ScriptedChatModel(['{"name":"x","age":null}']);
    const person = z.object({ name: z.string(), age: z.number().optional() });

    expect(await ChatClient.create(model).prompt('who').call().entity(person)).to.deep.equal({ name: 'x' });
  });

  it('lets the upper layer limit the tokens, by whichever name', () => {
    expect(mergeOptions({ maxCompletionTokens: 4000 }, { maxTokens: 10 })).to.deep.equal({ maxTokens: 10 });
    expect(mergeOptions({ maxTokens: 4000 }, { maxCompletionTokens: 10 })).to.deep.equal({ maxCompletionTokens: 10 });
  });

  it('takes messages one by one or as a list', async () => {
    const model = new ScriptedChatModel(() => 'ok');
    const history: readonly Message[] = [
      { role: 'user', content: 'a' },
      { role: 'assistant', text: 'b', toolCalls: [] },
    ];

    await ChatClient.create(model)
      .prompt()
      .messages(history)
      .messages(...history)
      .user('c')
      .call()
      .content();

    expect(model.prompts[0]?.messages).to.deep.equal([...history, ...history, { role: 'user', content: 'c' }]);
  });

  it('names what is wrong with a model that answers nothing', async () => {
    const model = new ScriptedChatModel(() => 'x');
    model.call = () => Promise.resolve(undefined as never);

    const error: unknown = await ChatClient.create(model)
      .prompt('x')
      .call()
      .content()
      .catch((reason: unknown) => reason);

    expect(error).to.have.property('message', 'the model must answer with a ChatResponse, not undefined');
  });
});
