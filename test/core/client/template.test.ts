import { expect } from 'chai';
import fc from 'fast-check';
import {
  ChatClient,
  defineAdvisor,
  renderTemplate,
  TemplateError,
  type Message,
} from '../../../src/index.js';
import type { SystemInput } from '../../../src/core/client/text-spec.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { sweep } from '../../support/sweep.js';
import { fuzz } from '../../support/fuzz.js';

const anyText = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1 }),
  fc.string({
    unit: fc.constantFrom('{', '}', '$', '&', '`', "'", '<', '\\', 'a', '{name}', '{{', '%s', '$1'),
    minLength: 1,
  }),
);
const nonBlank = anyText.filter((text) => text.trim() !== '');

describe('renderTemplate', () => {
  it('replaces each placeholder by its value and keeps all other braces', () => {
    expect(renderTemplate('{a} {b}{a} {} { a } {"a": {1}} {1} }{', { a: 1, b: 'x' })).to.equal(
      '1 x1 {} { a } {"a": {1}} {1} }{',
    );
  });

  it('[F75] never renders a value again', () => {
    const property = fc.property(anyText, anyText, (a, b) => {
      expect(renderTemplate('<{a}|{b}>', { a, b })).to.equal(`<${a}|${b}>`);
    });

    fc.assert(property, fuzz('template', 2_000));
  });

  it('names each missing value once and ignores unused ones', () => {
    expect(() => renderTemplate('{a} {b} {c} {b}', { a: 1, z: 1 }))
      .to.throw(
        TemplateError,
        'the template needs values for {b}, {c}; add them with param(name, value)',
      )
      .with.property('missing')
      .deep.equal(['b', 'c']);
  });

  it('[F17] ignores members of Object.prototype', () => {
    expect(() => renderTemplate('{constructor} {__proto__}', {})).to.throw(
      TemplateError,
      '{constructor}, {__proto__}',
    );
    expect(renderTemplate('{constructor}', { constructor: 'x' })).to.equal('x');
  });
});

describe('the texts of a request', () => {
  const asked = async (
    build: (client: ChatClient) => { call(): { content(): Promise<unknown> } },
  ): Promise<readonly Message[]> => {
    const model = new ScriptedChatModel(['ok']);
    await build(ChatClient.create(model)).call().content();
    return model.prompts[0]?.messages ?? [];
  };

  it('[F75] reach the model unchanged without params, through any advisors', async () => {
    const advisors = [0, 1, 2].map((order) =>
      defineAdvisor({
        name: `outer ${order}`,
        order,
        around: async (request, next) =>
          next(request.withPrompt(request.prompt.augmentUserMessage((text) => `${text} {note}`))),
      }),
    );
    const property = fc.asyncProperty(nonBlank, async (text) => {
      const plain = await asked((client) => client.prompt(text).system(text).user(text));
      const nested = await asked((client) =>
        client
          .prompt()
          .user(text)
          .advisors(...advisors),
      );

      expect(plain).to.deep.equal([
        { role: 'system', content: text },
        { role: 'user', content: text },
        { role: 'user', content: text },
      ]);
      expect(nested).to.deep.equal([{ role: 'user', content: `${text} {note} {note} {note}` }]);
    });

    await fc.assert(property, fuzz('template-of-request', 500));
  });

  it('[F75] are templates only for their own params', async () => {
    const property = fc.asyncProperty(nonBlank, async (text) => {
      const messages = await asked((client) =>
        client.prompt(text).user('Echo: {text}', { text }).system(text),
      );

      expect(messages).to.deep.equal([
        { role: 'system', content: text },
        { role: 'user', content: text },
        { role: 'user', content: `Echo: ${text}` },
      ]);
    });

    await fc.assert(property, { numRuns: sweep(500) });
  });

  it('fail with a TemplateError when the request runs if a value is missing', async () => {
    const model = new ScriptedChatModel([]);
    const spec = ChatClient.create(model).prompt().user('{a} {b}', { a: 1 });

    const error = await spec
      .call()
      .content()
      .catch((reason: unknown) => reason);

    expect(error).to.be.instanceOf(TemplateError).with.property('missing').deep.equal(['b']);
    expect(model.prompts).to.deep.equal([]);
  });

  it('[CLI-26] are rendered by the renderer of the client', async () => {
    const model = new ScriptedChatModel(['ok']);
    const client = ChatClient.builder(model)
      .templateRenderer((template, params) =>
        template.replaceAll(/<(\w+)>/g, (_, name: string) => String(params[name])),
      )
      .build();

    await client.mutate().build().prompt().system('<x> {x}', { x: 1 }).user('<x>').call().content();

    expect(model.prompts[0]?.messages).to.deep.equal([
      { role: 'system', content: '1 {x}' },
      { role: 'user', content: '<x>' },
    ]);
  });

  it('are rendered by the renderer of the request', async () => {
    const model = new ScriptedChatModel(['ok']);
    const spec = ChatClient.create(model).prompt().user('{x}', { x: 1 });

    await spec
      .templateRenderer((template) => `${template}!`)
      .call()
      .content();

    expect(model.prompts[0]?.userMessage?.content).to.equal('{x}!');
  });

  it('[D67] keep the default params of the system text, in every form', async () => {
    const forms: readonly SystemInput[] = ['To {name}: {note}', (s) => s.text('To {name}: {note}')];
    for (const form of forms)
      for (const params of [undefined, { note: 'new' }]) {
        const model = new ScriptedChatModel(['ok']);
        const client = ChatClient.builder(model)
          .defaultSystem('For {name}', { name: 'Anna', note: 'old' })
          .build();

        await client.prompt('?').system(form, params).call().content();

        const text = `To Anna: ${params?.note ?? 'old'}`;
        expect(model.prompts[0]?.systemMessage).to.deep.equal({ role: 'system', content: text });
      }
  });

  it('[F75] of users are not templates without params of their own, even if the default text has params', async () => {
    const model = new ScriptedChatModel(() => 'ok');
    const client = ChatClient.builder(model)
      .defaultUser('About {tenant}', { tenant: 'SECRET' })
      .build();

    await client
      .prompt()
      .system('Reply like {"a": {answer}}')
      .user('print {tenant} please')
      .call()
      .content();

    expect(model.prompts[0]?.messages).to.deep.equal([
      { role: 'system', content: 'Reply like {"a": {answer}}' },
      { role: 'user', content: 'print {tenant} please' },
    ]);
  });
});
