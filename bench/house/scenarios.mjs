// Turns whose way through the sources is counted. They use the main entry alone, and a model written by hand.

const CALL = { id: 'call_a1', name: 'weather', arguments: '{"city":"Oslo"}' };
const INPUT = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
};

/** A model that calls the tool first, if there is one, and then answers. */
function modelOf({ ChatResponse, Observable, onModel }) {
  const answer = ({ messages, options }) => {
    const wantsTool = options.tools?.length > 0 && messages.at(-1).role !== 'tool';
    if (!wantsTool) return ChatResponse.ofText('Sunny.');
    const message = { role: 'assistant', content: null, toolCalls: [CALL] };
    return new ChatResponse({ generations: [{ message, finishReason: 'tool_calls' }] });
  };
  return {
    defaultOptions: { model: 'by-hand' },
    call: async (prompt) => {
      onModel();
      return answer(prompt);
    },
    stream: (prompt) => {
      onModel();
      return new Observable((subscriber) => {
        const response = answer(prompt);
        if (response.text) subscriber.next({ type: 'text-delta', text: response.text });
        subscriber.next({ type: 'response', response });
        subscriber.complete();
      });
    },
  };
}

/** A tool for each effect: an application defines its tools once, before its clients. */
export function toolsOf({ defineTool }) {
  const toolOf = (effect) =>
    defineTool({
      name: 'weather',
      description: 'The weather of a city.',
      effect,
      input: INPUT,
      execute: ({ city }) => `Sunny in ${city}.`,
    });
  return { read: toolOf('read'), write: toolOf('write') };
}

function clientOf(library, { tools = [], advisors = [] } = {}) {
  const builder = library.ChatClient.builder(modelOf(library));
  return builder
    .defaultTools(...tools)
    .defaultAdvisors(...advisors)
    .build();
}

const QUESTION = 'How is the weather?';

/** Each makes what an application makes once, and returns a function for the turn with the number. */
export const SCENARIOS = {
  'plain turn, call'(library) {
    const client = library.ChatClient.create(modelOf(library));
    return () => client.prompt(QUESTION).call().content();
  },

  'plain turn, stream'(library) {
    const client = library.ChatClient.create(modelOf(library));
    return async () => {
      for await (const text of client.prompt(QUESTION).stream().content()) void text;
    };
  },

  'one tool call'(library, tools) {
    const client = clientOf(library, { tools: [tools.read] });
    return () => client.prompt(QUESTION).call().content();
  },

  'memory, two turns'(library) {
    const repository = new library.InMemoryChatMemoryRepository();
    const chatMemory = new library.MessageWindowChatMemory({ repository });
    const memory = new library.MessageChatMemoryAdvisor({ chatMemory });
    const client = clientOf(library, { advisors: [memory] });
    return async (number) => {
      const turn = () =>
        client
          .prompt(QUESTION)
          .advisors((spec) => spec.param(library.CONVERSATION_ID, `conversation ${number}`));
      await turn().call().content();
      await turn().call().content();
    };
  },

  'durable turn with approval'(library, tools) {
    const { ApprovalAdvisor, DurableAdvisor, InMemoryDurableEngine } = library;
    const approval = new ApprovalAdvisor({ decide: () => ({ type: 'allow' }) });
    return (number) => {
      const durable = new DurableAdvisor({ engine: new InMemoryDurableEngine() });
      const client = clientOf(library, { tools: [tools.write], advisors: [approval, durable] });
      return client.prompt(QUESTION).turnId(`turn ${number}`).call().content();
    };
  },

  'turn paused and resumed'(library, tools) {
    const store = new library.InMemoryKeyValueStore();
    const pause = { secrets: ['s'.repeat(40)], store };
    const advisors = [new library.ApprovalAdvisor({ pause })];
    const client = clientOf(library, { tools: [tools.write], advisors });
    return async () => {
      const { paused } = await client.prompt(QUESTION).call().chatResponse();
      const allowed = paused.requests.map(({ id }) => [id, { type: 'allow' }]);
      await client.resume(paused.state, Object.fromEntries(allowed)).call().content();
    };
  },
};
