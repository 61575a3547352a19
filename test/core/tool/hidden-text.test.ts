import { expect } from 'chai';
import {
  ChatClient,
  defineTool,
  defineToolProvider,
  ToolDefinitionError,
  ToolProviderError,
  type Tool,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';

const execute = (): string => 'ok';

/** A tool that a foreign server describes. */
function foreign(name: string, description = 'A tool.', inputSchema: object = {}): Tool {
  const tool = defineTool({ name: 'tool', execute });
  const schema = { type: 'object', ...inputSchema };
  return { ...tool, name, definition: { name, description, inputSchema: schema } };
}

/** The error of a turn with a provider for each list of tools. */
async function failureWith(...lists: readonly (readonly Tool[])[]): Promise<unknown> {
  const model = new ScriptedChatModel(['Done.']);
  const providers = lists.map((tools, at) =>
    defineToolProvider({ name: `server ${at + 1}`, tools: () => tools }),
  );
  const spec = ChatClient.create(model).prompt('Go.').tools(providers);
  return spec
    .call()
    .content()
    .catch((error: unknown) => error);
}

describe('names and descriptions of tools', () => {
  for (const name of ['__proto__', 'constructor', 'prototype']) {
    it(`[D60] are not ${name}`, async () => {
      expect(() => defineTool({ name, execute })).to.throw(ToolDefinitionError, name);
      const error = await failureWith([foreign(name)]);
      expect(error).to.be.instanceOf(ToolProviderError);
      expect(error).to.have.property('message').that.includes(`the name ${name} is reserved`);
    });
  }

  const hidden: Readonly<Record<string, string>> = {
    'U+200B': 'send\u200bmail',
    'U+200D': 'send\u200dmail',
    'U+202E': 'send\u202email',
    'U+2066': 'send\u2066mail',
    'U+FEFF': '\ufeffsend mail',
    'U+00AD': 'send\u00admail',
    'U+E0041': 'send mail\u{e0041}',
    'U+E0100': 'send mail\u{e0100}',
    'U+001B': 'send \u001b[8mmail',
    'U+3164': 'send\u3164mail',
    'U+2028': 'send\u2028mail',
  };
  for (const [codePoint, text] of Object.entries(hidden)) {
    it(`[D60] have no ${codePoint}, which is named with the tool`, async () => {
      const parts: readonly Tool[] = [
        foreign(text),
        foreign('mail', text),
        foreign('mail', 'A tool.', { properties: { to: { description: text } } }),
      ];

      for (const tool of codePoint === 'U+001B' ? parts.slice(0, 2) : parts) {
        const error = await failureWith([tool]);
        expect(error).to.be.instanceOf(ToolProviderError).with.property('providerName', 'server 1');
        expect(error).to.have.property('message').that.includes(codePoint);
        expect(error).to.have.property('message').that.includes(tool.definition.name.slice(0, 4));
      }
      expect(() => defineTool({ name: text, strictName: false, execute })).to.throw(
        ToolDefinitionError,
      );
      expect(() => defineTool({ name: 'mail', description: text, execute })).to.throw(
        ToolDefinitionError,
        codePoint,
      );
    });
  }

  const shown = ['Zwei\nZeilen\tmit Ümläuten', '👩‍💻 ❤️ 1️⃣', 'می‌خواهم', 'क्‍ष', '你好'];
  for (const description of shown) {
    it(`[D60] may have ${JSON.stringify(description)}`, async () => {
      expect(await failureWith([foreign('mail', description)])).to.equal('Done.');
    });
  }
});

describe('tools of several providers', () => {
  for (const name of ['Send_Mail', 'send-mail', 'sendMail', 'SENDMAIL', 'send.mail']) {
    it(`[D60] are refused if one reads like another: ${name}`, async () => {
      const error = await failureWith([foreign('send_mail')], [foreign(name)]);

      expect(error).to.be.instanceOf(ToolProviderError);
      expect(error).to.have.property(
        'message',
        `the tool provider "server 2" provides a tool "${name}", which reads like "send_mail", one of the tool provider "server 1". Rename one of them or leave it out.`,
      );
    });
  }

  it('[D60] may have such names within one provider', async () => {
    expect(await failureWith([foreign('send_mail'), foreign('sendMail')])).to.equal('Done.');
  });
});
