import { expect } from 'chai';
import {
  ChatClient,
  CONVERSATION_ID,
  ContextKey,
  defineAdvisor,
  defineTool,
  InvalidArgumentError,
  Prompt,
} from '../../../src/index.js';
import type { Advisor, Message, PromptSpec } from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';

const user = (content: string): Message => ({ role: 'user', content });
const system = (text: string): Message => ({ role: 'system', content: text });
const assistant = (text: string): Message => ({ role: 'assistant', content: text });
const history = [user('q1'), assistant('a1')];
const tool = (name: string) => defineTool({ name, execute: () => 'ok' });
const TENANT = new ContextKey<string>('test.tenant', 'none');

/** The messages that the model is asked with. */
async function asked(build: (client: ChatClient) => PromptSpec): Promise<readonly Message[]> {
  const model = new ScriptedChatModel(['ok']);
  await build(ChatClient.create(model)).call().content();
  return model.prompts[0]?.messages ?? [];
}

describe('ChatClient', () => {
  describe('messages', () => {
    it('[CLI-07] sends the text of prompt(text) as a user message', async () => {
      expect(await asked((client) => client.prompt('hi'))).to.deep.equal([user('hi')]);
    });

    it('[CLI-08] sends the text of user(text) after the text of prompt(text)', async () => {
      expect(await asked((client) => client.prompt('first').user('last'))).to.deep.equal([
        user('first'),
        user('last'),
      ]);
    });

    it('[CLI-09] sends the messages of prompt(Prompt), then the text of user(text)', async () => {
      expect(await asked((client) => client.prompt(new Prompt(history)).user('q2'))).to.deep.equal([
        ...history,
        user('q2'),
      ]);
    });

    it('[CLI-10] [CLI-20] sends messages(…), then the text of user(text), whatever was set first', async () => {
      expect(
        await asked((client) =>
          client
            .prompt()
            .user('q2')
            .messages(...history),
        ),
      ).to.deep.equal([...history, user('q2')]);
    });

    it('[CLI-11] [CLI-19] sends the system text first, whatever was set first', async () => {
      expect(
        await asked((client) =>
          client
            .prompt('hi')
            .messages(...history)
            .system('S'),
        ),
      ).to.deep.equal([system('S'), user('hi'), ...history]);
    });

    it('[CLI-13] keeps a system message of messages(…) in place, beside the system text', async () => {
      const messages = await asked((client) =>
        client
          .prompt()
          .messages(...history, system('inner'))
          .system('S')
          .user('q2'),
      );

      expect(messages).to.deep.equal([system('S'), ...history, system('inner'), user('q2')]);
    });

    it('rejects a request without messages when it runs, with a hint', async () => {
      const spec = ChatClient.create(new ScriptedChatModel([])).prompt();

      const error = await spec
        .call()
        .content()
        .catch((reason: unknown) => reason);

      expect(error).to.be.instanceOf(InvalidArgumentError);
      expect((error as Error).message).to.equal(
        'the prompt has no messages; add one with prompt(text), user(…), system(…) or messages(…)',
      );
    });

    it('[F82] accepts a prompt of another copy of the package', async () => {
      const foreign = { messages: [user('hi')], options: { seed: 7 } } as unknown as Prompt;
      const model = new ScriptedChatModel(['ok']);

      await ChatClient.create(model).prompt(foreign).call().content();

      expect(model.prompts[0]?.messages).to.deep.equal([user('hi')]);
      expect(model.prompts[0]?.options.seed).to.equal(7);
    });

    it('accepts messages one by one or as a list', async () => {
      const sent = await asked((client) =>
        client
          .prompt()
          .messages(history)
          .messages(...history)
          .user('q2'),
      );

      expect(sent).to.deep.equal([...history, ...history, user('q2')]);
    });
  });

  describe('defaults and requests', () => {
    it('[CLI-03] [CLI-14] [CLI-27] sends all defaults of a client', async () => {
      const model = new ScriptedChatModel(['ok']);
      const tools = [tool('a'), tool('b'), tool('c')];
      const client = ChatClient.builder(model)
        .defaultSystem('S {x}', { x: 1 })
        .defaultUser((u) =>
          u.text('U').image({ url: 'https://example.org/a.png' }).metadata({ id: 1 }),
        )
        .defaultMessages(...history)
        .defaultOptions({ temperature: 0 })
        .defaultTools(...tools)
        .build();

      await client.prompt().call().content();

      const [prompt] = model.prompts;
      expect(prompt?.messages).to.deep.equal([
        system('S 1'),
        ...history,
        {
          role: 'user',
          content: [
            { type: 'text', text: 'U' },
            { type: 'image', url: 'https://example.org/a.png' },
          ],
          metadata: { id: 1 },
        },
      ]);
      expect(prompt?.options).to.deep.equal({ model: 'scripted', temperature: 0, tools });
    });

    it('[CLI-48] uses the last text, also instead of a default', async () => {
      const model = new ScriptedChatModel(['ok']);
      const client = ChatClient.builder(model)
        .defaultSystem('S1')
        .defaultSystem('S2')
        .defaultUser('U1')
        .build();

      await client.prompt().system('S3').user('U2').user('U3').call().content();

      expect(model.prompts[0]?.messages).to.deep.equal([system('S3'), user('U3')]);
    });

    it('[CLI-39] keeps a default text if a request only adds params or metadata', async () => {
      const model = new ScriptedChatModel(['ok']);
      const client = ChatClient.builder(model)
        .defaultSystem('S {x} {y}', { x: 1, y: 1 })
        .defaultUser('U {z}')
        .build();

      await client
        .prompt()
        .system((s) => s.param('y', 2).metadata({ kept: true }))
        .user((u) => u.params({ z: 3 }))
        .call()
        .content();

      expect(model.prompts[0]?.messages).to.deep.equal([
        { role: 'system', content: 'S 1 2', metadata: { kept: true } },
        user('U 3'),
      ]);
    });

    it('appends media, messages, tools and advisors of a request to the defaults', async () => {
      const model = new ScriptedChatModel(['ok']);
      const seen: string[] = [];
      const watcher = (name: string) =>
        defineAdvisor({ name, order: 0, before: () => void seen.push(name) });
      const client = ChatClient.builder(model)
        .defaultUser((u) => u.text('U').file({ url: 'https://example.org/1' }))
        .defaultMessages(user('default'))
        .defaultTools(tool('a'))
        .defaultAdvisors(watcher('first'))
        .build();

      await client
        .prompt()
        .user((u) => u.audio({ data: 'AAAA', mediaType: 'audio/wav' }))
        .messages(user('request'))
        .tools(tool('b'))
        .advisors(watcher('second'))
        .call()
        .content();

      const [prompt] = model.prompts;
      expect(prompt?.messages).to.deep.equal([
        user('default'),
        user('request'),
        {
          role: 'user',
          content: [
            { type: 'text', text: 'U' },
            { type: 'file', url: 'https://example.org/1' },
            { type: 'audio', data: 'AAAA', mediaType: 'audio/wav' },
          ],
        },
      ]);
      expect(prompt?.options.tools?.map(({ definition }) => definition.name)).to.deep.equal([
        'a',
        'b',
      ]);
      expect(seen).to.deep.equal(['first', 'second']);
    });

    it('[CLI-28] [CLI-29] merges options by name: model, client, prompt, request', async () => {
      const model = new ScriptedChatModel(['ok'], {
        model: 'm',
        temperature: 0,
        maxTokens: 1,
        seed: 1,
        stopSequences: ['x'],
      });
      const client = ChatClient.builder(model)
        .defaultOptions({ temperature: 1, maxTokens: 2, stopSequences: ['y'] })
        .build();

      await client
        .prompt(new Prompt('hi', { maxTokens: 3, topP: 0.5 }))
        .options({ topP: 1, seed: undefined })
        .call()
        .content();

      expect(model.prompts[0]?.options).to.deep.equal({
        model: 'm',
        temperature: 1,
        maxTokens: 3,
        seed: 1,
        topP: 1,
        stopSequences: ['x', 'y'],
      });
    });

    it('[CLI-21] [CLI-24] accepts tools and tool context in options(…)', async () => {
      let values: unknown;
      const spy = defineTool({
        name: 'spy',
        execute: (_args, context) => void (values = context.values),
      });
      const model = new ScriptedChatModel([{ toolCalls: [{ name: 'spy' }] }, 'ok']);
      const client = ChatClient.builder(model).defaultToolContext({ a: 1, b: 1 }).build();

      await client
        .prompt('hi')
        .options({ tools: [spy], toolContext: { b: 2 } })
        .toolContext({ c: 3 })
        .call()
        .content();

      expect(values).to.deep.equal({ a: 1, b: 2, c: 3 });
      expect(model.prompts[0]?.options).not.to.have.property('toolContext');
    });

    it('[CLI-23] prefers values of a request in tool context and advisor params', async () => {
      let seen: unknown;
      const spy = defineTool({
        name: 'spy',
        execute: (_args, context) =>
          void (seen = [
            context.values,
            context.advisorContext.get(TENANT),
            context.advisorContext.get(CONVERSATION_ID),
          ]),
      });
      const client = ChatClient.builder(
        new ScriptedChatModel([{ toolCalls: [{ name: 'spy' }] }, 'ok']),
      )
        .defaultTools(spy)
        .defaultToolContext({ a: 1, b: 1 })
        .defaultAdvisors((a) => a.param(TENANT, 'default').param(CONVERSATION_ID, 'default'))
        .build();

      await client
        .prompt('hi')
        .toolContext({ b: 2 })
        .advisors((a) => a.param(CONVERSATION_ID, 'anna-7'))
        .call()
        .content();

      expect(seen).to.deep.equal([{ a: 1, b: 2 }, 'default', 'anna-7']);
    });

    it('[CLI-40] accepts single tools and collections, in order', async () => {
      const model = new ScriptedChatModel(['ok']);

      await ChatClient.create(model)
        .prompt('hi')
        .tools(tool('a'), [tool('b'), [tool('c')]], [])
        .call()
        .content();

      expect(
        model.prompts[0]?.options.tools?.map(({ definition }) => definition.name),
      ).to.deep.equal(['a', 'b', 'c']);
    });
  });

  it('builds its chain once for all requests that share its advisors', async () => {
    const chains = new Set<unknown>();
    const watcher: Advisor = {
      name: 'watcher',
      order: 0,
      advise: (request, chain) => (chains.add(chain.advisors), chain.next(request)),
    };
    const client = ChatClient.builder(new ScriptedChatModel(() => 'ok'))
      .defaultAdvisors(watcher)
      .build();

    await client.prompt('1').call().content();
    await client
      .prompt('2')
      .advisors((a) => a.param(TENANT, 'acme'))
      .call()
      .content();
    await client.prompt('3').tools(tool('a')).options({ seed: 1 }).call().content();

    expect(chains.size).to.equal(1);
  });
});
