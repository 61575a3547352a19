import { expect } from 'chai';
import { ChatClient, ContextKey, defineAdvisor, defineTool, Prompt } from '../../../src/index.js';
import type { ChatClientRequest, ChatModel, Message } from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { RUNS } from '../../support/modes.js';

const user = (content: string): Message => ({ role: 'user', content });
const system = (text: string): Message => ({ role: 'system', content: text });
const assistant = (text: string): Message => ({ role: 'assistant', content: text });
const history = [user('q1'), assistant('a1')];
const tool = (name: string) => defineTool({ name, execute: () => 'ok' });
const TENANT = new ContextKey<string>('test.tenant', 'none');

const everything = (model: ChatModel) =>
  ChatClient.builder(model)
    .defaultSystem('S {x}', { x: 1 })
    .defaultUser((u) => u.text('U').image({ url: 'https://example.org/a.png' }).metadata({ id: 1 }))
    .defaultMessages(...history)
    .defaultOptions({ temperature: 0 })
    .defaultTools(tool('a'))
    .defaultToolContext({ t: 1 })
    .defaultAdvisors(
      defineAdvisor({
        name: 'mark',
        order: 0,
        after: (response) => response.with({ id: 'marked' }),
      }),
    )
    .build();

describe('ChatClient', () => {
  describe('immutability', () => {
    it('[CLI-31] never modifies a spec', async () => {
      const model = new ScriptedChatModel((prompt) =>
        JSON.stringify(prompt.messages.length + (prompt.options.tools?.length ?? 0)),
      );
      const base = ChatClient.create(model).prompt('hi');

      base
        .system('S')
        .user('U')
        .messages(user('m'))
        .tools(tool('a'))
        .options({ seed: 1 })
        .toolContext({ a: 1 });

      expect(await base.call().content()).to.equal('1');
      expect(model.prompts[0]?.options).to.deep.equal({ model: 'scripted' });
    });

    it('[F76] never modifies its arguments', async () => {
      const options = Object.freeze({
        temperature: 0,
        stopSequences: Object.freeze(['x']),
        metadata: Object.freeze({ a: '1' }),
      });
      const messages = Object.freeze(history.map((message) => Object.freeze({ ...message })));
      const model = new ScriptedChatModel(
        [{ toolCalls: [{ name: 'a' }] }, 'ok'],
        Object.freeze({ model: 'm' }),
      );

      const text = await ChatClient.builder(model)
        .defaultOptions(options)
        .defaultMessages(...messages)
        .defaultTools(Object.freeze([Object.freeze(tool('a'))]))
        .defaultToolContext(Object.freeze({ t: 1 }))
        .build()
        .prompt('hi')
        .options(options)
        .call()
        .content();

      expect(text).to.equal('ok');
    });

    it('[F76] is not affected by later changes of its arguments', async () => {
      const model = new ScriptedChatModel(['ok']);
      const options: { temperature: number; tools?: never } = { temperature: 0 };
      const messages = [user('a')];
      const params = { x: 'before' };
      const spec = ChatClient.create(model)
        .prompt(new Prompt(messages, options))
        .user('{x}', params);

      options.temperature = 1;
      messages.push(user('b'));
      params.x = 'after';
      await spec.call().content();

      expect(model.prompts[0]?.messages).to.deep.equal([user('a'), user('before')]);
      expect(model.prompts[0]?.options.temperature).to.equal(0);
    });

    for (const [mode, run] of RUNS)
      it(`[D21] cannot be changed through a request (${mode})`, async () => {
        const changes: readonly ((request: ChatClientRequest) => unknown)[] = [
          ({ prompt }) => (prompt.options.stopSequences as string[]).push('!'),
          ({ prompt }) => ((prompt.options.extraBody ?? {})['deep'] as number[]).push(2),
          ({ prompt }) => Object.assign(prompt.options, { temperature: 2 }),
          ({ prompt }) => Object.assign(prompt.messages[1] as Message, { content: '!' }),
          ({ prompt }) => Object.assign(prompt.messages.at(-1)?.metadata ?? {}, { id: 2 }),
          ({ tools }) => (tools as unknown[]).pop(),
          ({ toolContext }) => Object.assign(toolContext, { t: 2 }),
        ];
        const model = new ScriptedChatModel(() => 'ok', {
          model: 'm',
          stopSequences: ['of the model'],
        });
        const failures: unknown[] = [];
        const rude = defineAdvisor({
          name: 'rude',
          order: 0,
          before: (request) => {
            for (const change of changes)
              try {
                change(request);
              } catch (error) {
                failures.push(error);
              }
          },
        });
        const client = everything(model)
          .mutate()
          .defaultSystem('S')
          .defaultOptions({ stopSequences: ['.'], extraBody: { deep: [1] } })
          .defaultAdvisors(rude)
          .build();

        await run(client.prompt());
        await run(client.prompt());

        expect(failures).to.have.lengthOf(2 * changes.length);
        for (const failure of failures) expect(failure).to.be.instanceOf(TypeError);
        const [first, second] = model.prompts;
        expect(second?.messages).to.deep.equal(first?.messages);
        expect(second?.options).to.deep.equal(first?.options);
        expect(model.defaultOptions.stopSequences).to.deep.equal(['of the model']);
        expect(second?.options.stopSequences).to.deep.equal(['of the model', '.']);
      });

    it('[D21] copies messages and options, so that later changes do not reach a request', async () => {
      const model = new ScriptedChatModel(['ok']);
      const message = { role: 'user' as const, content: 'a', metadata: { list: [1] } };
      const options = { stopSequences: ['.'], extraBody: { deep: [1] } };
      const self: Record<string, unknown> = { bytes: new Uint8Array(1) };
      self['self'] = self;
      const cyclic: Message = { role: 'user', content: 'b', metadata: self };
      const spec = ChatClient.create(model).prompt().messages(message, cyclic).options(options);

      message.content = 'changed';
      message.metadata.list.push(2);
      options.stopSequences.push('!');
      options.extraBody.deep.push(2);
      await spec.call().content();

      const [prompt] = model.prompts;
      const [first, second] = prompt?.messages ?? [];
      expect(first).to.deep.equal({ role: 'user', content: 'a', metadata: { list: [1] } });
      expect(prompt?.options).to.deep.include({ stopSequences: ['.'], extraBody: { deep: [1] } });
      expect(second?.metadata?.['self']).to.equal(second?.metadata).and.not.to.equal(self);
      expect(second?.metadata?.['bytes']).to.equal(self['bytes']);
      expect(Object.isFrozen(self)).to.equal(false);
    });

    it('[CLI-49] [CLI-58] builds independent clients, unaffected by later setters', async () => {
      const model = new ScriptedChatModel((prompt) => String(prompt.messages.length));
      const builder = ChatClient.builder(model).defaultSystem('S');

      const first = builder.build();
      const second = builder.defaultMessages(user('m')).build();

      expect(second).not.to.equal(first);
      expect(await first.prompt('hi').call().content()).to.equal('2');
      expect(await second.prompt('hi').call().content()).to.equal('3');
    });
  });

  describe('mutate', () => {
    it('[CLI-59] creates clients of different models that share nothing else', async () => {
      const models = [new ScriptedChatModel(['one']), new ScriptedChatModel(['two'])];

      const texts = await Promise.all(
        models.map((model) => everything(model).prompt().call().content()),
      );

      expect(texts).to.deep.equal(['one', 'two']);
    });

    it('[CLI-30] creates a builder with all defaults of a client', async () => {
      const model = new ScriptedChatModel(['1', '2']);
      const client = everything(model);

      const responses = [
        await client.prompt().call().chatResponse(),
        await client.mutate().build().prompt().call().chatResponse(),
      ];

      expect(model.prompts[1]?.messages).to.deep.equal(model.prompts[0]?.messages);
      expect(model.prompts[1]?.options).to.deep.equal(model.prompts[0]?.options);
      expect(responses.map(({ id }) => id)).to.deep.equal(['marked', 'marked']);
    });

    it('creates a builder with all settings of a spec', async () => {
      const model = new ScriptedChatModel(['1', '2']);
      const spec = everything(model).prompt('hi').system('T').options({ seed: 1 }).tools(tool('b'));

      await spec.call().content();
      await spec.mutate().build().prompt().call().content();

      expect(model.prompts[1]?.messages).to.deep.equal(model.prompts[0]?.messages);
      expect(model.prompts[1]?.options).to.deep.equal(model.prompts[0]?.options);
    });

    it('never modifies the original client', async () => {
      const model = new ScriptedChatModel((prompt) => String(prompt.messages.length));
      const client = ChatClient.create(model);

      client.mutate().defaultSystem('S').defaultMessages(user('m')).build();

      expect(await client.prompt('hi').call().content()).to.equal('1');
    });

    it('keeps params of a missing text and of advisors (Spring loses them)', async () => {
      const model = new ScriptedChatModel(['ok']);
      let tenant: string | undefined;
      const reader = defineAdvisor({
        name: 'reader',
        order: 0,
        before: ({ context }) => void (tenant = context.get(TENANT)),
      });
      const client = ChatClient.builder(model)
        .defaultUser((u) => u.param('x', 1).metadata({ id: 1 }))
        .defaultSystem((s) => s.param('y', 2))
        .defaultAdvisors((a) => a.param(TENANT, 'acme'))
        .build();

      await client
        .mutate()
        .build()
        .prompt()
        .user('{x}')
        .system('{y}')
        .advisors(reader)
        .call()
        .content();

      expect(model.prompts[0]?.messages).to.deep.equal([
        system('2'),
        { ...user('1'), metadata: { id: 1 } },
      ]);
      expect(tenant).to.equal('acme');
    });

    it('omits the signal of a spec, which cancels one request only', async () => {
      const spec = ChatClient.create(new ScriptedChatModel(['ok']))
        .prompt('hi')
        .signal(AbortSignal.abort());

      expect(await spec.mutate().build().prompt().call().content()).to.equal('ok');
    });
  });
});
