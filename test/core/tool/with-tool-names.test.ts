import { callsOf } from '../../../src/core/chat/message.js';
import { expect } from 'chai';
import {
  ChatClient,
  defineTool,
  Prompt,
  InMemoryChatMemoryRepository,
  KeywordToolIndex,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  textOf,
  ToolSearchAdvisor,
  withToolNames,
  type ChatEvent,
  type ChatResponse,
  type Tool,
  type ToolMessage,
} from '../../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../../src/testing/index.js';
import { inConversation } from '../../support/memory-advisor.js';
import { MODES, runSpec } from '../../support/modes.js';

const tool = (name: string): Tool => {
  const own = defineTool({
    name: 'own',
    description: `Does ${name}.`,
    execute: () => `${name} ran`,
  });
  return { ...own, name, definition: { ...own.definition, name } };
};
const offered = ({ options }: Prompt): readonly string[] =>
  options.tools?.map(({ definition }) => definition.name) ?? [];

const called = ({ generations }: ChatResponse): readonly string[] =>
  generations.flatMap(({ message }) => callsOf(message).map(({ name }) => name));

/** A model that calls each of the tools it is offered, then answers. */
const caller = (): ScriptedChatModel =>
  new ScriptedChatModel((prompt, index): ScriptedAnswer =>
    index === 0
      ? { toolCalls: offered(prompt).map((name) => ({ name, arguments: {} })) }
      : { text: 'Done.' },
  );

describe('withToolNames', () => {
  const tools = ['maps.search', 'a/b', 'plain', `mail.${'x'.repeat(80)}`].map(tool);

  for (const mode of ['call', 'stream'] as const) {
    it(`[F24] sends names that the model accepts, and restores the real ones (${mode})`, async () => {
      const model = caller();
      const events: ChatEvent[] = [];
      const spec = ChatClient.create(withToolNames(model)).prompt('Go.').tools(tools);

      if (mode === 'call') await spec.call().content();
      else
        await spec
          .stream()
          .events()
          .forEach((event) => void events.push(event));

      const [first, second] = model.prompts as [Prompt, Prompt];
      const sent = offered(first);
      expect(sent.slice(0, 3)).to.deep.equal(['maps_search', 'a_b', 'plain']);
      for (const name of sent) expect(name).to.match(/^[a-zA-Z0-9_-]{1,64}$/);
      const calls = second.messages.flatMap((message) =>
        message.role === 'assistant' ? callsOf(message).map(({ name }) => name) : [],
      );
      const results = second.messages.flatMap((message) =>
        message.role === 'tool' ? [[message.toolName, message.content]] : [],
      );
      expect(calls).to.deep.equal(sent);
      expect(results).to.deep.equal(
        tools.map(({ definition }, at) => [sent[at], `${definition.name} ran`]),
      );
      if (mode === 'stream') {
        const names = tools.map(({ definition }) => definition.name);
        const deltas = events.flatMap((event) =>
          event.type === 'tool-call-delta' && event.name !== undefined ? [event.name] : [],
        );
        const ran = events.flatMap((event) =>
          event.type === 'tool-call' ? [event.call.name] : [],
        );
        expect(deltas).to.deep.equal(names);
        expect(ran).to.deep.equal(names);
      }
    });
  }

  it('shows only the real names to limits and the application', async () => {
    const response = await withToolNames(caller()).call(new Prompt('Go.', { tools }));

    expect(called(response)).to.deep.equal(tools.map(({ definition }) => definition.name));
  });

  it('maps a forced choice', async () => {
    const model = caller();
    await withToolNames(model).call(
      new Prompt('Go.', { tools, toolChoice: { tool: 'maps.search' } }),
    );

    expect(model.prompts[0]?.options.toolChoice).to.deep.equal({ tool: 'maps_search' });
  });

  it('passes a prompt unchanged if all names are accepted', async () => {
    const model = caller();
    const prompt = new Prompt('Go.', { tools: [tool('plain')], toolChoice: 'auto' });
    await withToolNames(model).call(prompt);

    expect(model.prompts[0]).to.equal(prompt);
  });

  it('returns the same options object for the same options, so that a model can cache by it', async () => {
    const model = caller();
    const named = withToolNames(model);
    const prompt = new Prompt('Go.', { tools });
    await named.call(prompt);
    await named.call(prompt.append({ role: 'assistant', content: 'Yes.' }));

    expect(model.prompts[1]?.options).to.equal(model.prompts[0]?.options);
  });

  it('keeps a name that the model invents', async () => {
    const model = new ScriptedChatModel([{ toolCalls: [{ name: 'maps_find', arguments: {} }] }]);

    const response = await withToolNames(model).call(new Prompt('Go.', { tools }));

    expect(called(response)).to.deep.equal(['maps_find']);
  });

  it('[F23] rejects two tools that would have the same name', async () => {
    const both = { tools: [tool('a.b'), tool('a_b')] };

    const failure = await withToolNames(caller())
      .call(new Prompt('Go.', both))
      .catch((error: unknown) => error);

    expect(failure)
      .to.be.an('error')
      .with.property('message')
      .that.matches(/the tools "a.b" and "a_b" would both have the name "a_b"/);
  });

  it('accepts another rule', async () => {
    const model = caller();
    await withToolNames(model, { maxLength: 20, allowed: /[a-z._]/g }).call(
      new Prompt('Go.', { tools }),
    );

    expect(offered(model.prompts[0] as Prompt)).to.deep.equal([
      'maps.search',
      'a_b',
      'plain',
      offered(model.prompts[0] as Prompt)[3],
    ]);
    expect(offered(model.prompts[0] as Prompt)[3]).to.match(/^mail\.x{6}_[0-9a-f]{8}$/);
  });

  it('rejects an invalid rule', () => {
    expect(() => withToolNames(caller(), { maxLength: 8 })).to.throw(
      /maxLength must be an integer >= 16/,
    );
    expect(() => withToolNames(caller(), { allowed: 'a-z' as unknown as RegExp })).to.throw(
      /allowed must be a RegExp/,
    );
    expect(() => withToolNames(caller(), { allowed: /[a-z]/ })).to.throw(/allowed must match "_"/);
    expect(() => withToolNames(undefined as never)).to.throw(
      /model must be a ChatModel, not undefined/,
    );
  });

  for (const mode of MODES)
    it(`[D34] names the tools in results of a tool search like the tools on offer (${mode})`, async () => {
      const model = new ScriptedChatModel((prompt, index) => {
        if (index === 0) return { toolCalls: [{ name: 'find', arguments: { query: 'maps' } }] };
        if (index > 1) return 'Done.';
        const [found] = JSON.parse(textOf((prompt.messages.at(-1) as ToolMessage).content));
        return { toolCalls: [{ name: found.name }] };
      });
      const chatMemory = new MessageWindowChatMemory({
        repository: new InMemoryChatMemoryRepository(),
      });
      const client = ChatClient.builder(withToolNames(model))
        .defaultTools(tool('maps.search'), tool('mail.send'))
        .defaultAdvisors(
          new ToolSearchAdvisor({ toolIndex: new KeywordToolIndex(), searchToolName: 'find' }),
          new MessageChatMemoryAdvisor({ chatMemory, storeToolMessages: true }),
        )
        .build();
      await runSpec(mode, inConversation(client.prompt('Search.')));

      expect(model.prompts.map(offered)).to.deep.equal([
        ['find'],
        ['find', 'maps_search'],
        ['find', 'maps_search'],
      ]);
      expect(model.prompts[2]?.messages.at(-1)).to.include({ content: 'maps.search ran' });
      const stored = await chatMemory.get('c');
      expect(JSON.stringify(stored)).to.include('maps.search').and.not.include('maps_search');
    });
});
