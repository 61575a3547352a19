import type { Mistake } from './mistake.js';

const MEMORY = 'new MessageWindowChatMemory({ repository: new InMemoryChatMemoryRepository() })';

/** Mistakes with advisors: built-in ones, their order, and one's own. */
export const ADVISORS: readonly Mistake[] = [
  {
    title: 'a class in place of an advisor',
    code: `ChatClient.builder(model).defaultAdvisors(LoggerAdvisor);`,
    tsc: `Argument of type 'typeof LoggerAdvisor' is not assignable to parameter of type 'AdvisorInput'`,
    run: `Class constructor LoggerAdvisor cannot be invoked without 'new'`,
  },
  {
    title: 'an advisor without a name',
    code: `client.prompt('Hi').advisors({ order: 1, before: (request) => request });`,
    tsc: `Property 'name' is missing`,
    run: 'advisors(…): an advisor must be an object with name and order',
  },
  {
    title: 'an advisor without an order',
    code: `defineAdvisor({ name: 'a', before: (request) => request });`,
    tsc: `Property 'order' is missing`,
    run: 'defineAdvisor: advisor "a": order must be a finite number, not undefined',
  },
  {
    title: 'an order in words',
    code: `defineAdvisor({ name: 'a', order: 'first', before: (request) => request });`,
    tsc: `Type 'string' is not assignable to type 'number'`,
    run: 'order must be a finite number, not "first"',
  },
  {
    title: 'a slot of the order that does not exist',
    code: `defineAdvisor({ name: 'a', order: AdvisorOrder.FIRST, before: (request) => request });`,
    tsc: `Property 'FIRST' does not exist on type '{ readonly TURN: 500; readonly OBSERVABILITY: 1000;`,
    run: 'order must be a finite number, not undefined',
  },
  {
    title: 'an advisor that does nothing',
    code: `defineAdvisor({ name: 'a', order: 1 });`,
    run: 'advisor "a" needs before, advise, around or adviseToolCall',
  },
  {
    title: 'two of the same advisor',
    code: `client.prompt('Hi').advisors(new LoggerAdvisor(), new LoggerAdvisor());`,
    run: 'ChainError: two advisors are named "logger"; give one of them another name',
  },
  {
    title: 'a repository in place of a memory',
    code: `new MessageChatMemoryAdvisor({ chatMemory: new InMemoryChatMemoryRepository() });`,
    tsc: `Type 'InMemoryChatMemoryRepository' is missing the following properties from type 'ChatMemory'`,
    run: 'chatMemory must be a ChatMemory, such as new MessageWindowChatMemory({ repository }), not an object',
  },
  {
    title: 'a memory in place of an advisor',
    code: `client.prompt('Hi').advisors(${MEMORY});`,
    tsc: `Argument of type 'MessageWindowChatMemory' is not assignable to parameter of type 'AdvisorInput'`,
    run: 'an advisor must be an object with name and order, such as new MessageChatMemoryAdvisor({ chatMemory })',
  },
  {
    title: 'memory in place of chatMemory',
    code: `new MessageChatMemoryAdvisor({ memory: ${MEMORY} });`,
    tsc: `'memory' does not exist in type 'MessageChatMemoryAdvisorOptions'`,
    run: 'there is no option `memory`; did you mean `chatMemory`?',
  },
  {
    title: 'a memory without a repository',
    code: `new MessageWindowChatMemory();`,
    tsc: 'Expected 1 arguments, but got 0',
    run: 'repository must be a ChatMemoryRepository, such as new InMemoryChatMemoryRepository(), not undefined',
  },
  {
    title: 'a path in place of a database',
    code: `new SqliteChatMemoryRepository({ database: 'chat.db' });`,
    tsc: `Type 'string' is not assignable to type`,
    run: 'database must be an open SQLite database, such as new DatabaseSync(path), not "chat.db"',
  },
  {
    title: 'a memory without the id of a conversation',
    code: `await ChatClient.builder(model).defaultAdvisors(new MessageChatMemoryAdvisor({ chatMemory: ${MEMORY} })).build().prompt('Hi').call().content();`,
    run: 'the request has no conversation id; add .conversation(id), with a different id for each conversation',
  },
  {
    title: 'the id of a conversation as an option',
    code: `client.prompt('Hi').options({ conversationId: 'anna-7' });`,
    tsc: `'conversationId' does not exist in type 'ChatOptions'`,
    run: 'there is no option `conversationId`; see the methods signal, stopWhen, conversation',
  },
  {
    title: 'a text as the key of a param',
    code: `client.prompt('Hi').advisors((a) => a.param('conversationId', 'anna-7'));`,
    tsc: `Argument of type 'string' is not assignable to parameter of type 'ContextKey<`,
    run: 'the key of a param must be a ContextKey, such as CONVERSATION_ID, not "conversationId"',
  },
  {
    title: 'a number as the id of a conversation',
    code: `client.prompt('Hi').advisors((a) => a.param(CONVERSATION_ID, 7));`,
    tsc: `Argument of type 'number' is not assignable to parameter of type 'string'`,
    run: 'param chat_memory_conversation_id must be a non-blank string of at most 512 characters',
  },
  {
    title: 'a param whose spec is not returned',
    code: `client.prompt('Hi').advisors((a) => { a.param(CONVERSATION_ID, 'anna-7'); });`,
    tsc: `Type 'void' is not assignable to type 'AdvisorSpec'`,
    run: 'the function must return the spec it was given, as in (a) => a.param(key, value)',
  },
  {
    title: 'a memory inside a tool loop that keeps its history, too',
    code: `ChatClient.builder(model).defaultAdvisors(new ToolCallingAdvisor(), new MessageChatMemoryAdvisor({ order: AdvisorOrder.LOGGER, chatMemory: ${MEMORY} })).warnings({ warn: show }).build();`,
    run: 'messages are sent twice; set keepHistory: false',
  },
  {
    title: 'a retry left of the tool loop',
    code: `ChatClient.builder(model).defaultAdvisors(new RetryAdvisor({ order: AdvisorOrder.MEMORY })).warnings({ warn: show }).build();`,
    run: '"retry" retries left of the tool loop: finished tools run again; give it an order above TOOL_CALLING',
  },
  {
    title: 'retries in place of maxRetries',
    code: `new RetryAdvisor({ retries: 3 });`,
    tsc: `'retries' does not exist in type 'RetryAdvisorOptions'`,
    run: 'there is no option `retries`; did you mean `maxRetries`?',
  },
  {
    title: 'around() without a return',
    code: `await client.prompt('Hi').advisors(defineAdvisor({ name: 'a', order: 1, async around(request, next) { await next(request); } })).call().content();`,
    tsc: `Type 'void' is not assignable to type 'ChatResponse'`,
    run: 'ChainError: advisor "a": around must return a ChatResponse, not undefined',
  },
  {
    title: 'around() that returns a text',
    code: `await client.prompt('Hi').advisors(defineAdvisor({ name: 'a', order: 1, around: () => 'text' })).call().content();`,
    tsc: `Type 'string' is not assignable to type 'ChatResponse | Promise<ChatResponse>'`,
    run: 'around must return a ChatResponse, not "text"',
  },
  {
    title: 'next() without a request',
    code: `await client.prompt('Hi').advisors(defineAdvisor({ name: 'a', order: 1, around: (_, next) => next() })).call().content();`,
    tsc: 'Expected 1-2 arguments, but got 0',
    run: 'next(…): request must be a ChatClientRequest, not undefined',
  },
  {
    title: 'an answer of next() that is not awaited',
    code: `defineAdvisor({ name: 'a', order: 1, around: (request, next) => { const response = next(request); print(response.text); return response; } });`,
    tsc: `Property 'text' does not exist on type 'Promise<ChatClientResponse<`,
  },
  {
    title: 'before() that returns a text',
    code: `await client.prompt('Hi').advisors(defineAdvisor({ name: 'a', order: 1, before: () => 'x' })).call().content();`,
    tsc: `Type 'string' is not assignable to type 'void | ChatClientRequest | Promise<void | ChatClientRequest>'`,
    run: 'advisor "a": before must return a ChatClientRequest or nothing, not "x"',
  },
  {
    title: 'an async advise()',
    code: `await client.prompt('Hi').advisors({ name: 'a', order: 1, advise: async (request, chain) => chain.next(request) }).call().content();`,
    tsc: `Type 'Promise<Observable<ChatEvent>>' is missing the following properties from type 'Observable<ChatEvent>'`,
    run: 'advisor "a": advise must return an Observable, not an object',
  },
  {
    title: 'a message pushed into the request',
    code: `await client.prompt('Hi').advisors(defineAdvisor({ name: 'a', order: 1, before: (request) => { request.prompt.messages.push({ role: 'user', content: 'x' }); } })).call().content();`,
    tsc: `Property 'push' does not exist on type 'readonly Message[]'`,
    run: 'TypeError: Cannot add property 1, object is not extensible',
    unhelpful: 'a frozen list has the messages of the language; both refuse the change',
  },
  {
    title: 'an option set in the request',
    code: `await client.prompt('Hi').advisors(defineAdvisor({ name: 'a', order: 1, before: (request) => { request.prompt.options.temperature = 1; } })).call().content();`,
    tsc: `Cannot assign to 'temperature' because it is a read-only property`,
    run: 'TypeError: Cannot add property temperature, object is not extensible',
  },
  {
    title: 'a history that is cut between a call and its result',
    code: `await ChatClient.create(asksFor('weather', { city: 'Rome' })).prompt('Hi').tools(weather).advisors(defineAdvisor({ name: 'trim', order: AdvisorOrder.LOGGER, before: (request) => request.withMessages(request.prompt.messages.slice(-1)) })).call().content();`,
    run: 'advisor "trim" broke the request: the result "scripted_1" belongs to no call before it; nothing was sent',
  },
  {
    title: 'a time limit of an advisor with a unit',
    code: `new TimeoutAdvisor({ iteration: '30s' });`,
    tsc: `Type 'string' is not assignable to type 'number'`,
    run: 'iteration must be a number of milliseconds > 0 and < 2 ** 31, or Infinity, not "30s"',
  },
  {
    title: 'a time limit without a time',
    code: `new TimeoutAdvisor({});`,
    run: 'one of firstDelta, idle, iteration and turn must be set',
  },
  {
    title: 'a budget without a limit',
    code: `new BudgetAdvisor({});`,
    run: 'BudgetAdvisor: one of maxTokens, maxCost, maxModelCalls, maxToolCalls, maxDuration, shared must be set',
  },
  {
    title: 'a budget of costs without prices',
    code: `await ChatClient.builder(model).defaultAdvisors(new BudgetAdvisor({ maxCost: 1 })).build().prompt('Hi').call().content();`,
    run: 'maxCost needs a price: price(priceTable({ … })) of the client, or the option price of the advisor',
  },
  {
    title: 'one price for a model',
    code: `priceTable({ 'gpt-5-mini': 0.25 });`,
    tsc: `Type 'number' is not assignable to type 'TokenPrices'`,
    run: 'gpt-5-mini must be an object such as { input: 0.25, output: 2 }, not 0.25',
  },
  {
    title: 'other names of prices',
    code: `priceTable({ 'gpt-5-mini': { prompt: 0.25, completion: 2 } });`,
    tsc: `'prompt' does not exist in type 'TokenPrices'`,
    run: 'there is no option `gpt-5-mini.prompt`; there are input, output, cachedInput, cacheWrite',
  },
  {
    title: 'a negative price',
    code: `priceTable({ 'gpt-5-mini': { input: -1 } });`,
    run: 'gpt-5-mini.input must be the price of a million tokens, >= 0, not -1',
  },
  {
    title: 'prices without priceTable',
    code: `ChatClient.builder(model).price({ 'gpt-5-mini': { input: 0.25, output: 2 } });`,
    tsc: `does not exist in type 'PriceOfCall'`,
    run: 'a price, such as priceTable({ … }), must be a function, not an object',
  },
  {
    title: 'a model that the table of prices does not have',
    code: `await ChatClient.builder(new ScriptedChatModel([{ text: 'x', model: 'gpt-6', usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } }])).price(priceTable({ 'gpt-5': { input: 1 } })).defaultAdvisors(new BudgetAdvisor({ maxCost: 1 })).build().prompt('Hi').call().content();`,
    run: 'there is no price of the model "gpt-6"; add it to the table',
  },
];
