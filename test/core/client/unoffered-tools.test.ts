import { expect } from 'chai';
import {
  ChatClient,
  defineTool,
  textOf,
  ToolCallingAdvisor,
  ToolCallingManager,
  type Message,
  type Tool,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { RUNS } from '../../support/modes.js';
import { settled } from '../../support/promises.js';
import { offered, provider } from '../../support/providers.js';
import fc from 'fast-check';
import { sweep } from '../../support/sweep.js';

/** Looks like `offered`, and is not: Cyrillic o, Greek o, fullwidth, a soft hyphen, a zero-width space, a combining mark. */
const HOMOGLYPHS = [
  'оffered',
  'οffered',
  'ｏffered',
  'off\u00adered',
  'offered\u200b',
  'off\u0335ered',
  'offered\u0000',
];
const CASES = [
  'Offered',
  'OFFERED',
  'oFFERED',
  ' offered',
  'offered ',
  'offered\n',
  '"offered"',
  'offered()',
  'functions.offered',
];
const PROTOTYPES = [
  'constructor',
  '__proto__',
  'toString',
  'hasOwnProperty',
  'valueOf',
  'prototype',
  '__defineGetter__',
  'then',
];
/** Wrappers of parallel calls that models make up. */
const WRAPPERS = ['multi_tool_use.parallel', 'parallel', ''];

const REGISTERED = ['offered', 'elsewhere', 'another_client', 'another_tenant'];

const manager = new ToolCallingManager({ maxTotalCalls: Infinity, maxCallsPerTool: Infinity });

/** A client and a spec of it that offers one of four tools; the others belong to concurrent requests. */
function scene(names: readonly string[]) {
  const ran: string[] = [];
  const named = (name: string): Tool => defineTool({ name, execute: () => (ran.push(name), name) });
  const model = new ScriptedChatModel(({ messages }) =>
    messages.length === 1 &&
    messages[0]?.role === 'user' &&
    textOf(messages[0].content) === 'attack'
      ? { toolCalls: names.map((name) => ({ name })) }
      : 'Done.',
  );
  const tenant = provider('tenant', async ({ toolContext }) => {
    await settled();
    return toolContext['tenant'] === 'another' ? [named('another_tenant')] : [];
  });
  const advisors = new ToolCallingAdvisor({ manager });
  const client = ChatClient.builder(model).defaultTools(tenant).defaultAdvisors(advisors).build();
  const others = [
    client.prompt('harmless').tools(named('elsewhere')),
    client.prompt('harmless').toolContext({ tenant: 'another' }),
    ChatClient.builder(model).defaultTools(named('another_client')).build().prompt('harmless'),
  ];
  return { ran, model, others, spec: client.prompt('attack').tools(named('offered')) };
}

/** The texts of the tool messages. */
function results(messages: readonly Message[] | undefined): readonly string[] {
  return (messages ?? []).flatMap((message) =>
    message.role === 'tool' ? [textOf(message.content)] : [],
  );
}

for (const [mode, run] of RUNS) {
  describe(`tools that are not offered in a ${mode}`, () => {
    it('[F12] do not run: tools of other requests, clients and tenants, similar names, names of Object.prototype', async () => {
      const names = [...REGISTERED, ...HOMOGLYPHS, ...CASES, ...PROTOTYPES, ...WRAPPERS];
      const { ran, model, others, spec } = scene(names);

      const answers = await Promise.all([...others.map(run), run(spec), ...others.map(run)]);

      expect(new Set(answers)).to.deep.equal(new Set(['Done.']));
      expect(offered(model).map(String)).to.include.members(REGISTERED);
      expect(ran).to.deep.equal(['offered']);
      const [first, ...refused] = results(
        model.prompts.find(({ messages }) => messages.length > 1)?.messages,
      );
      expect([first, refused.length]).to.deep.equal(['offered', names.length - 1]);
      for (const text of refused)
        expect(text).to.match(/^There is no tool [^]*\. Tools you can call: offered\.$/);
    });

    it('[F12] do not run under any invented name', async function () {
      this.timeout(30_000);
      const name = fc.oneof(
        fc.string(),
        fc.string({ unit: 'binary' }),
        fc.constantFrom(...REGISTERED, ...PROTOTYPES, ...HOMOGLYPHS),
      );
      await fc.assert(
        fc.asyncProperty(fc.array(name, { minLength: 1, maxLength: 20 }), async (names) => {
          const { ran, model, others, spec } = scene(names);

          await Promise.all([...others.map(run), run(spec)]);

          const exact = names.filter((one) => one === 'offered');
          expect(ran).to.deep.equal(exact);
          const texts = results(
            model.prompts.find(({ messages }) => messages.length > 1)?.messages,
          );
          expect(texts.filter((text) => text === 'offered')).to.deep.equal(exact);
          expect(texts).to.have.lengthOf(names.length);
        }),
        { numRuns: sweep(2_000) },
      );
    });

    it('[F12] do not run in a later request after one request offered them', async () => {
      const ran: string[] = [];
      const once = defineTool({ name: 'once', execute: () => void ran.push('once') });
      const calls = { toolCalls: [{ name: 'once' }] };
      const model = new ScriptedChatModel([calls, 'Done.', calls, 'Done.']);
      const client = ChatClient.create(model);

      await run(client.prompt('?').tools(once));
      await run(client.prompt('?'));

      expect(ran).to.deep.equal(['once']);
      expect(results(model.prompts.at(-1)?.messages)).to.deep.equal([
        'There is no tool "once". There are no tools to call.',
      ]);
    });
  });
}
