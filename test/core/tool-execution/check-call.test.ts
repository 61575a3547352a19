import { callsOf } from '../../../src/core/chat/message.js';
import { expect } from 'chai';
import { of } from 'rxjs';
import { z } from 'zod';
import { z as zodThree } from 'zod3';
import { defineTool } from '../../../src/core/tool/define-tool.js';
import { sameCalls } from '../../support/same-calls.js';
import type { ToolResult } from '../../../src/core/chat/chat-event.js';
import type { InputSchema } from '../../../src/core/json-schema/to-json-schema.js';
import {
  AdvisorContext,
  ChatClient,
  ChatResponse,
  InMemoryChatMemoryRepository,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  Prompt,
  ToolCallingManager,
  type AssistantMessage,
  type ChatModel,
  type ToolMessage,
} from '../../../src/index.js';
import { runBatch } from '../../support/batch.js';
import { inConversation } from '../../support/memory-advisor.js';
import { MODES, runSpec } from '../../support/modes.js';
import '../../../src/core/json-schema/zod3.js';

const PROBLEM = 'The arguments of "tool" are not valid:\n- ';

/** Calls a tool with a text as arguments; returns the arguments of the tool and the content for the model. */
async function send(args: string): Promise<{
  readonly got: readonly unknown[];
  readonly content: unknown;
  readonly result: ToolResult;
}> {
  const got: unknown[] = [];
  const tool = defineTool({ name: 'tool', execute: (value) => void got.push(value) });
  const { contents, results } = await runBatch([tool], [{ name: 'tool', args }]);
  return { got, content: contents[0], result: results[0]?.result as ToolResult };
}

describe('the arguments of a call', () => {
  for (const args of ['', ' ', '\n\t ', 'null', ' null ', '{}', '{ }']) {
    it(`[F14] [MGR-29] are an empty object if the text is ${JSON.stringify(args)}`, async () => {
      const { got, content } = await send(args);

      expect(got).to.deep.equal([{}]);
      expect(content).to.equal('Done');
    });
  }

  it('[F14] are validated when they are empty', async () => {
    const tool = defineTool({
      name: 'tool',
      input: z.object({ city: z.string() }),
      execute: () => 'ran',
    });
    const { contents } = await runBatch([tool], [{ name: 'tool', args: '' }]);

    expect(contents).to.deep.equal([
      `${PROBLEM}city: Invalid input: expected string, received undefined`,
    ]);
  });

  for (const args of [null, undefined])
    it(`[D28] are an empty object if they are ${args}`, async () => {
      expect((await send(args as never)).got).to.deep.equal([{}]);
    });

  it('[D28] are described to the model if a response of no run has another value', async () => {
    const tool = defineTool({ name: 'tool', execute: () => 'ran' });
    const toolCalls = [{ id: 'a', name: 'tool', arguments: {} as never }];
    const response = new ChatResponse({
      generations: [{ message: { role: 'assistant', content: null, toolCalls } }],
    });
    const prompt = new Prompt('?', { tools: [tool] });
    const { messages } = await new ToolCallingManager().executeToolCalls(prompt, response);

    expect(messages[0]?.content).to.equal(
      `${PROBLEM}they must be the text of a JSON object, not an object`,
    );
  });

  for (const mode of MODES)
    it(`[D28] are text for tools, memory and model, also if a model returns values, in ${mode} mode`, async () => {
      const asked: Prompt[] = [];
      const answer = (prompt: Prompt): ChatResponse => {
        asked.push(prompt);
        const values = [null, { city: 'Rome' }, 1n];
        const toolCalls = values.map((value, at) => {
          return { id: `${at}`, name: 'weather', arguments: value as never };
        });
        if (asked.length > 1) return ChatResponse.ofText('Done.');
        return new ChatResponse({
          generations: [{ message: { role: 'assistant', content: null, toolCalls } }],
        });
      };
      const model: ChatModel = {
        defaultOptions: {},
        call: async (prompt) => answer(prompt),
        stream: (prompt) =>
          of({ type: 'response', response: answer(prompt), context: AdvisorContext.empty }),
      };
      const chatMemory = new MessageWindowChatMemory({
        repository: new InMemoryChatMemoryRepository(),
      });
      const weather = defineTool({
        name: 'weather',
        input: z.object({ city: z.string() }),
        execute: ({ city }) => city,
      });
      const memory = new MessageChatMemoryAdvisor({ chatMemory, storeToolMessages: true });
      const client = ChatClient.builder(model)
        .defaultTools(weather)
        .defaultAdvisors(memory)
        .build();
      await runSpec(mode, inConversation(client.prompt('?')));

      const calls = asked[1]?.messages.at(-4) as AssistantMessage;
      expect(callsOf(calls).map((call) => call.arguments)).to.deep.equal([
        'null',
        '{"city":"Rome"}',
        '1',
      ]);
      const results = asked[1]?.messages.slice(-3) as readonly ToolMessage[];
      expect(results.map(({ content }) => content)).to.deep.equal([
        'The arguments of "weather" are not valid:\n- city: Invalid input: expected string, received undefined',
        'Rome',
        'The arguments of "weather" are not valid:\n- they must be one JSON object',
      ]);
      expect(await chatMemory.get('c')).to.have.length(6);
    });

  it('[MGR-31] keep their structure', async () => {
    const value = { a: [{ b: { c: [1, 'x', null, true] } }], ключ: '😀' };

    expect((await send(JSON.stringify(value))).got).to.deep.equal([value]);
  });

  for (const args of [
    '{',
    '{"a":}',
    "{'a': 1}",
    '{"a": 1,}',
    '{a: 1}',
    '{"a": 01}',
    '{"a": NaN}',
    '{"a": "\n"}',
    '{} {}',
    '```json\n{}\n```',
    '// x\n{}',
    'city=Rome',
    '{"path":"/tmp/a',
  ]) {
    it(`[F15] do not run the tool if they are not JSON: ${JSON.stringify(args)}`, async () => {
      const { got, content, result } = await send(args);

      expect(got).to.deep.equal([]);
      expect(content).to.match(
        /^The arguments of "tool" are not valid:\n- not valid JSON: .{5,200}$/s,
      );
      expect(result.isError).to.equal(true);
      expect(result.error).to.have.property('code', 'tool');
    });
  }

  for (const args of ['[]', '[{"a":1}]', '"{\\"a\\":1}"', '1', 'true']) {
    it(`[F15] do not run the tool if they are not an object: ${args}`, async () => {
      const { got, content } = await send(args);

      expect(got).to.deep.equal([]);
      expect(content).to.equal(`${PROBLEM}they must be one JSON object`);
    });
  }

  for (const args of [
    '{"a":1,"a":2}',
    '{"o":{"a":1,"a":1}}',
    '{"l":[{"a":1,"b":2,"a":3}]}',
    '{"a":1,"\\u0061":2}',
  ]) {
    it(`[F16] do not run the tool if a key is repeated: ${args}`, async () => {
      const { got, content } = await send(args);

      expect(got).to.deep.equal([]);
      expect(content).to.match(
        /^The arguments of "tool" are not valid:\n- the key "a" is given twice \(position \d+\)$/,
      );
    });
  }

  for (const args of [
    '{"__proto__":{"admin":true}}',
    '{"a":{"__proto__":null}}',
    '{"\\u005f_proto__":1}',
    '{"l":[{"__proto__":[]}]}',
    '{"constructor":{"prototype":{"admin":true}}}',
  ]) {
    it(`[F17] do not run the tool if they address a prototype: ${args}`, async () => {
      const { got, content } = await send(args);

      expect(got).to.deep.equal([]);
      expect(content).to.include('is not accepted');
      expect(({} as { admin?: unknown }).admin).to.equal(undefined);
    });
  }

  describe('[F17] arguments that address a prototype change nothing', () => {
    const anything = {
      '~standard': {
        version: 1,
        vendor: 'acme',
        validate: (value: unknown) => ({ value: value as object }),
      },
    } as const;
    const open = { type: 'object', properties: {}, additionalProperties: true };
    const inputs: Readonly<Record<string, InputSchema>> = {
      'zod 4': z.looseObject({ a: z.unknown() }),
      'zod 4 record': z.record(z.string(), z.unknown()),
      'zod 4 catchall': z.object({}).catchall(z.looseObject({}).or(z.unknown())),
      'zod 3': zodThree.object({ a: zodThree.unknown() }).passthrough(),
      'zod 3 record': zodThree.record(zodThree.unknown()),
      'a Standard Schema': anything,
      'plain JSON Schema': open,
      'JSON Schema that knows the names': {
        ...open,
        properties: { constructor: { type: 'object' }, toString: { type: 'string' } },
      },
    };
    const payload = '{"polluted":true}';
    const wraps: readonly ((inner: string) => string)[] = [
      (inner) => inner,
      (inner) => `{"a":${inner}}`,
      (inner) => `{"a":[[{"b":${inner}}]]}`,
      (inner) => `{"a":{"toString":${inner}}}`,
    ];
    const corpus = wraps.flatMap((wrap) =>
      [
        `{"__proto__":${payload}}`,
        `{"\\u005f_proto__":${payload}}`,
        `{"\\u005F\\u005Fproto\\u005f_":${payload}}`,
        `{"__proto__":{"__proto__":${payload}}}`,
        `{"__proto__":null}`,
        `{"constructor":{"prototype":${payload}}}`,
        `{"constructor":{"\\u0070rototype":${payload}}}`,
        `{"const\\u0072uctor":{"prototype":{"polluted":true,"constructor":{"prototype":1}}}}`,
      ].map(wrap),
    );
    for (const [kind, input] of Object.entries(inputs))
      it(`with ${kind}`, async () => {
        const before = Object.getOwnPropertyDescriptors(Object.prototype);
        const got: unknown[] = [];
        const tool = defineTool({
          name: 'tool',
          input,
          ...(input === anything && { inputSchema: open }),
          execute: (args) => void got.push(args),
        });

        for (const args of corpus) {
          const { contents } = await runBatch([tool], [{ name: 'tool', args }]);
          expect(contents[0], args).to.include('is not accepted');
        }
        await runBatch([tool], [{ name: 'tool', args: '{"a":1}' }]);

        expect(got).to.deep.equal([{ a: 1 }]);
        expect(Object.getPrototypeOf(got[0])).to.be.oneOf([Object.prototype, null]);
        expect(Object.getOwnPropertyDescriptors(Object.prototype)).to.deep.equal(before);
        expect(({} as { polluted?: unknown }).polluted).to.equal(undefined);
      });
  });

  it('[F17] may have names of methods as keys', async () => {
    const { got } = await send('{"constructor":1,"toString":2,"hasOwnProperty":3}');

    expect(got).to.deep.equal([JSON.parse('{"constructor":1,"toString":2,"hasOwnProperty":3}')]);
  });

  it('[F15] do not run the tool if they are nested too deeply', async () => {
    const { got, content } = await send(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`);

    expect(got).to.deep.equal([]);
    expect(content).to.be.a('string');
  });

  it('[F18] are refused with an integer that would lose digits, beyond 2 ** 53', async () => {
    const got: unknown[] = [];
    const tool = defineTool({
      name: 'tool',
      execute: (args, { call }) => void got.push(args, call.arguments),
    });

    await runBatch([tool], [{ name: 'tool', args: '{"id":12345678901234567890}' }]);

    expect(got).to.deep.equal([]);
  });

  for (const finishReason of ['tool_calls', 'stop']) {
    it(`[F13] do not run the tool if truncated anywhere, whatever the finish reason (${finishReason})`, async () => {
      let runs = 0;
      const tool = defineTool({
        name: 'tool',
        input: z.object({ path: z.string(), text: z.string() }),
        execute: () => ++runs,
      });
      const whole = JSON.stringify({
        path: '/users/anna/notes.txt',
        text: 'Buy "milk" \\ and 2 eggs é😀',
      });

      for (let length = 0; length < whole.length; length++)
        await runBatch([tool], [{ name: 'tool', args: whole.slice(0, length) }]);
      const before = runs;
      await runBatch([tool], [{ name: 'tool', args: whole }]);

      expect([before, runs]).to.deep.equal([0, 1]);
    });
  }
});

describe('sameCalls', () => {
  const call = (name: string, args: string) => ({
    id: Math.random().toString(),
    name,
    arguments: args,
  });

  it('is true for the same calls with other ids, spaces and key order', () => {
    const a = '{"x":1,"y":{"b":[1,2],"a":"é"}}';
    const b = ' { "y": {"a":"\\u00e9", "b":[ 1,2 ]}, "x":1.0 } ';

    expect(sameCalls([call('a', a)], [call('a', b)])).to.equal(true);
    expect(sameCalls([call('a', '')], [call('a', '{}')])).to.equal(true);
    expect(sameCalls([call('a', 'null')], [call('a', '{}')])).to.equal(true);
    expect(sameCalls([call('a', 'not JSON')], [call('a', 'not JSON')])).to.equal(true);
  });

  it('is false for another name, value, order of items or number of calls', () => {
    const batches = [
      [],
      [call('a', '{}')],
      [call('b', '{}')],
      [call('a', '{"x":1}')],
      [call('a', '{"x":"1"}')],
      [call('a', '{"x":[1,2]}')],
      [call('a', '{"x":[2,1]}')],
      [call('a', '{"x":{"0":1,"1":2}}')],
      [call('a', '{}'), call('a', '{}')],
      [call('a', 'not JSON')],
      [call('a', '{"toString":1}')],
    ];

    for (const [at, a] of batches.entries())
      for (const [other, b] of batches.entries())
        expect(sameCalls(a, b), `${at} and ${other}`).to.equal(at === other);
  });

  it('compares arguments with a key that is refused as text', () => {
    const refused = '{"x":{"__proto__":false}}';

    expect(sameCalls([call('a', refused)], [call('a', refused)])).to.equal(true);
    expect(sameCalls([call('a', refused)], [call('a', ` ${refused}`)])).to.equal(false);
  });

  it('terminates for deeply nested arguments', () => {
    const deep = `${'['.repeat(5_000)}${']'.repeat(5_000)}`;

    expect(sameCalls([call('a', deep)], [call('a', deep)])).to.equal(true);
    expect(sameCalls([call('a', deep)], [call('a', `${deep} `)])).to.equal(false);
  });
});
