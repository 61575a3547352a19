import { expect } from 'chai';
import { serveOpenAI } from '../../../src/bridges/serve/index.js';
import {
  AdvisorOrder,
  ApprovalAdvisor,
  ChatResponse,
  defineAdvisor,
  ResponseCacheAdvisor,
  ChatClient,
  defineTool,
  InMemoryChatMemoryRepository,
  InMemoryKeyValueStore,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  ModelCallError,
  RetryAdvisor,
  toolCallingAutoRegister,
  ToolCallingAdvisor,
  type Advisor,
} from '../../../src/index.js';
import { ScriptedChatModel, type Script } from '../../../src/testing/index.js';

interface Completion {
  readonly error?: { readonly code: string };
  readonly choices: readonly {
    readonly finish_reason: string;
    readonly message: {
      readonly content: string | null;
      readonly tool_calls?: readonly {
        readonly id: string;
        readonly function: { readonly name: string };
      }[];
    };
  }[];
}

const own = defineTool({ name: 'own', execute: () => 'own result' });
const tools = [{ type: 'function', function: { name: 'weather' } }];
const user = { role: 'user', content: 'Q' };
const asksWeather = { text: 'Wait.', toolCalls: [{ name: 'weather', arguments: '{}' }] };

async function ask(script: Script, advisors: readonly Advisor[], body: object = {}) {
  const model = new ScriptedChatModel(script);
  const client = ChatClient.builder(model)
    .defaultTools(own)
    .defaultAdvisors(...advisors)
    .build();
  const answer = serveOpenAI({
    authorize,
    clients: client,
    prepare: (turn) => turn.conversation('c1'),
  });
  const response = await answer(
    new Request('http://localhost/v1/chat/completions', {
      method: 'POST',
      headers: { authorization: 'Bearer k', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'any', messages: [user], tools, ...body }),
    }),
  );
  return { model, response };
}

const authorize = (key: string): boolean => key === 'k';

async function choiceOf(response: Response): Promise<Completion['choices'][number] | undefined> {
  const text = await response.text();
  expect(response.status, text).to.equal(200);
  return (JSON.parse(text) as Completion).choices[0];
}

describe('an OpenAI endpoint of a chain', () => {
  it('ends the loop that an application configures, too', async () => {
    const loops: readonly (readonly Advisor[])[] = [
      [new ToolCallingAdvisor({ maxIterations: 3 })],
      [new RetryAdvisor()],
    ];
    for (const advisors of loops) {
      const { response } = await ask([asksWeather], advisors);
      const choice = await choiceOf(response);
      expect(choice?.finish_reason).to.equal('tool_calls');
      expect(choice?.message.content).to.equal('Wait.');
    }
  });

  it('gives open calls of a client without a loop to the caller', async () => {
    const script = [{ toolCalls: [{ name: 'own', arguments: '{}' }] }];
    const model = new ScriptedChatModel(script);
    const client = ChatClient.builder(model)
      .defaultTools(own)
      .defaultAdvisors(toolCallingAutoRegister(false))
      .build();
    const answer = serveOpenAI({ clients: client, authorize });
    const response = await answer(
      new Request('http://localhost/v1/chat/completions', {
        method: 'POST',
        headers: { authorization: 'Bearer k', 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'any', messages: [user] }),
      }),
    );
    expect((await choiceOf(response))?.message.tool_calls?.[0]?.function.name).to.equal('own');
  });

  it('keeps no call of the caller after a retry that has none', async () => {
    let attempts = 0;
    const { response } = await ask(() => {
      if (attempts++ === 0) throw new ModelCallError('busy', { status: 503, retryable: true });
      return 'Done.';
    }, [new RetryAdvisor({ firstDelay: 1 })]);
    const choice = await choiceOf(response);
    expect([choice?.finish_reason, choice?.message.content]).to.deep.equal(['stop', 'Done.']);
  });

  it('leaves a memory without open calls', async () => {
    const chatMemory = new MessageWindowChatMemory({
      repository: new InMemoryChatMemoryRepository(),
    });
    const { response } = await ask([asksWeather], [new MessageChatMemoryAdvisor({ chatMemory })]);

    expect((await choiceOf(response))?.finish_reason).to.equal('tool_calls');
    const { messages } = await chatMemory.load('c1');
    expect(messages).to.deep.equal([user, { role: 'assistant', content: 'Wait.' }]);
  });

  it('answers a turn that waits for people by 409', async () => {
    const approval = new ApprovalAdvisor({
      pause: { secrets: 'x'.repeat(32), store: new InMemoryKeyValueStore() },
    });
    for (const stream of [false, true]) {
      const script = [{ toolCalls: [{ name: 'own', arguments: '{}' }] }];
      const { response } = await ask(script, [approval], { stream });
      const text = await response.text();
      expect(response.status, text).to.equal(409);
      expect(text).to.include('turn_paused');
    }
  });

  it('gives the calls of a kept answer again, and none of an answer that was replaced', async () => {
    let asked = 0;
    const model = new ScriptedChatModel(() => (asked++, asksWeather));
    const post = async (advisor: Advisor) => {
      const client = ChatClient.builder(model).defaultAdvisors(advisor).build();
      const request = new Request('http://localhost/v1/chat/completions', {
        method: 'POST',
        headers: { authorization: 'Bearer k', 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'any', messages: [user], tools }),
      });
      return choiceOf(await serveOpenAI({ clients: client, authorize })(request));
    };
    const cache = new ResponseCacheAdvisor({
      scope: () => 'all',
      store: new InMemoryKeyValueStore(),
    });
    for (const _time of [1, 2]) {
      const choice = await post(cache);
      expect(choice?.finish_reason).to.equal('tool_calls');
      expect(choice?.message.tool_calls?.map((call) => call.function.name)).to.deep.equal([
        'weather',
      ]);
    }
    expect(asked).to.equal(1);

    const replacing = defineAdvisor({
      name: 'replacing',
      order: AdvisorOrder.GUARD,
      holdDeltas: true,
      after: () => ChatResponse.ofText('Refused.'),
    });
    const choice = await post(replacing);
    expect(choice?.message).to.deep.equal({
      role: 'assistant',
      content: 'Refused.',
      refusal: null,
    });
    expect(choice?.finish_reason).to.equal('stop');
  });

  it('ends by a signal of the application, too', async () => {
    const limit = new AbortController();
    const slow = defineTool({
      name: 'slow',
      execute: () => {
        limit.abort(new DOMException('canary', 'TimeoutError'));
        return new Promise(() => undefined);
      },
    });
    const model = new ScriptedChatModel([{ toolCalls: [{ name: 'slow', arguments: '{}' }] }]);
    const answer = serveOpenAI({
      authorize,
      clients: ChatClient.builder(model).defaultTools(slow).build(),
      prepare: (turn) => turn.signal(limit.signal),
    });

    const response = await answer(
      new Request('http://localhost/v1/chat/completions', {
        method: 'POST',
        headers: { authorization: 'Bearer k', 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'any', messages: [user] }),
      }),
    );

    expect(response.status).to.equal(504);
    expect(await response.text()).to.not.include('canary');
  });
});
