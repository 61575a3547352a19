import { expect } from 'chai';
import {
  ChatClient,
  ContextKey,
  defineAdvisor,
  defineTool,
  toolResult,
  type ChatModel,
  type PromptSpec,
  type Tool,
} from '../../../src/index.js';
import { OpenAIChatModel } from '../../../src/models/openai/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import {
  chunk,
  completion,
  sendEvents,
  sendJson,
  WireServer,
  type Exchange,
} from '../../support/wire-server.js';
import { RUNS } from '../../support/modes.js';
import { provider, tool } from '../../support/providers.js';

const CANARY = 'canary-7f3a';
const SECRET = new ContextKey<string>('test.secret', '');
const ADVISED = new ContextKey<object>('test.advised', {});

/** Tools that know the canary, with every outcome but sending it on purpose. */
const ENDS: Readonly<Record<string, (secret: string) => unknown>> = {
  answers: () => 'fine',
  nothing: () => undefined,
  throws: (secret) => {
    throw new Error(`failed for ${secret}`);
  },
  rejects: (secret) => Promise.reject(new TypeError(secret, { cause: secret })),
  text: (secret) => {
    throw secret as unknown;
  },
  overdue: () => new Promise(() => undefined),
  converts: (secret) => toolResult({ content: 'fine', value: { secret } }),
};

/** Calls of all tools, one whose arguments are whole but no object, and one of a tool that does not exist. */
const CALLS = [
  ...Object.keys(ENDS).map((name) => ({ name, arguments: '{}' })),
  { name: 'answers', arguments: '"no object"' },
  { name: 'missing', arguments: '{}' },
];

/** A request whose tools, provider and advisor all have the canary; and how often a tool saw it. */
function scene(model: ChatModel): { readonly spec: PromptSpec; readonly seen: string[] } {
  const seen: string[] = [];
  const tools = Object.entries(ENDS).map(([name, end]): Tool =>
    defineTool({
      name,
      ...(name === 'overdue' && { timeout: 5 }),
      execute: (_args, { get, values, progress }) => {
        progress(values);
        seen.push(get(SECRET));
        return end(get(SECRET));
      },
    }),
  );
  const adds = defineAdvisor({
    name: 'adds',
    order: 0,
    before: (request) => request.withToolContext(ADVISED, { deep: [CANARY] }),
  });
  const spec = ChatClient.builder(model)
    .defaultToolContext({ client: CANARY })
    .build()
    .prompt('Go.')
    .system('For {user}', { user: 'you' })
    .tools(
      tools,
      provider('provider', ({ toolContext }) =>
        toolContext['client'] === CANARY ? [tool('provided')] : [],
      ),
    )
    .toolContext(SECRET, CANARY)
    .options({ toolContext: { [CANARY]: true } })
    .advisors(adds);
  return { spec, seen };
}

function answer(exchange: Exchange): void {
  const stream = exchange.body['stream'] === true;
  const calls = CALLS.map((call, index) => ({
    index,
    id: `call_${index}`,
    type: 'function',
    function: call,
  }));
  if (exchange.index % 2 === 1) {
    if (stream)
      sendEvents(exchange, [
        chunk({ role: 'assistant', content: 'Done.' }),
        chunk({}, 'stop'),
        '[DONE]',
      ]);
    else sendJson(exchange, completion('Done.'));
  } else if (stream) {
    sendEvents(exchange, [
      chunk({ role: 'assistant', tool_calls: calls }),
      chunk({}, 'tool_calls'),
      '[DONE]',
    ]);
  } else {
    const message = { role: 'assistant', content: null, tool_calls: calls };
    sendJson(
      exchange,
      completion('', { choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }),
    );
  }
}

for (const [mode, run] of RUNS) {
  describe(`the tool context of a ${mode} and the model`, () => {
    it('appears in no prompt, whatever the outcome of the tools', async () => {
      const model = new ScriptedChatModel([{ toolCalls: CALLS }, 'Done.']);
      const { spec, seen } = scene(model);

      expect(await run(spec)).to.equal('Done.');

      expect(seen).to.deep.equal(Object.keys(ENDS).map(() => CANARY));
      expect(model.prompts[1]?.messages.filter(({ role }) => role === 'tool')).to.have.lengthOf(
        CALLS.length,
      );
      expect(model.prompts[1]?.options.tools?.map(({ definition }) => definition.name)).to.include(
        'provided',
      );
      expect(JSON.stringify(model.prompts)).not.to.contain(CANARY);
    });

    it('appears in no body and no header of the HTTP requests', async () => {
      const server = await WireServer.start(answer);
      try {
        const { spec, seen } = scene(
          new OpenAIChatModel({
            model: 'm',
            apiKey: 'sk-test',
            baseURL: server.baseURL,
            maxRetries: 0,
          }),
        );

        expect(await run(spec)).to.equal('Done.');

        expect(seen).to.have.lengthOf(Object.keys(ENDS).length);
        expect(server.exchanges).to.have.lengthOf(2);
        const sent = JSON.stringify(
          server.exchanges.map(({ body, headers }) => ({ body, headers })),
        );
        expect(sent).to.contain('provided').and.to.contain('For you');
        expect(sent).not.to.contain(CANARY);
        expect(sent).not.to.contain('test.secret');
      } finally {
        await server.close();
      }
    });
  });
}
