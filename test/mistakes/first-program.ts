import type { Mistake } from './mistake.js';

/** Mistakes in a first program: model, request, messages, answer. */
export const FIRST_PROGRAM: readonly Mistake[] = [
  {
    title: 'the name of a model in place of a model',
    code: `ChatClient.create('gpt-5-mini');`,
    tsc: `Argument of type 'string' is not assignable to parameter of type 'ChatModel'`,
    run: 'InvalidArgumentError: ChatClient: model must be a chat model with call and stream, not "gpt-5-mini"',
  },
  {
    title: 'options around a model',
    code: `ChatClient.create({ model });`,
    tsc: `'model' does not exist in type 'ChatModel'`,
    run: 'ChatClient: model must be a chat model with call and stream, not an object',
  },
  {
    title: 'a model whose stream is an async generator',
    code: `const stream = async function* () { yield { type: 'text-delta', text: 'Hi' } as const; };
await ChatClient.create({ defaultOptions: {}, call: async () => ChatResponse.ofText('Hi'), stream }).prompt('Hi').stream().finalResponse();`,
    tsc: `Type '() => AsyncGenerator<`,
    run: 'InvalidArgumentError: the model: stream(…) must return an Observable: wrap an async generator in from(…) of rxjs; not an object',
  },
  {
    title: 'a model whose call returns no promise',
    code: `const call = () => ChatResponse.ofText('Hi');
await ChatClient.create({ defaultOptions: {}, call, stream: () => model.stream(new Prompt([])) }).prompt('Hi').call().content();`,
    tsc: `Type '() => ChatResponse' is not assignable to type`,
    run: 'InvalidArgumentError: the model: call(…) must return a promise of a ChatResponse: make it async; not an object',
  },
  {
    title: 'new ChatClient',
    code: `new ChatClient(model);`,
    tsc: 'create: (model: ChatModel) => ChatClient<never>; builder:',
    run: 'TypeError: ChatClient is not a constructor',
  },
  {
    title: 'a model by its name alone',
    code: `new OpenAIChatModel('gpt-5-mini');`,
    tsc: `has no properties in common with type 'OpenAIChatModelOptions'`,
    run: 'OpenAIChatModel: options must be a plain object, not "gpt-5-mini"',
  },
  {
    title: 'modelName in place of model',
    code: `new OpenAIChatModel({ apiKey: 'k', modelName: 'gpt-5-mini' });`,
    tsc: `'modelName' does not exist in type 'OpenAIChatModelOptions'`,
    run: 'there is no option `modelName`; did you mean `model`?',
  },
  {
    title: 'the name of a model that is no text',
    code: `new OpenAIChatModel({ model: 5 });`,
    tsc: `Type 'number' is not assignable to type 'string'`,
    run: 'OpenAIChatModel: model must be a non-blank string, not 5',
  },
  {
    title: 'no name of a model',
    code: `new OpenAIChatModel({ apiKey: 'k' });`,
    run: 'OpenAIChatModel: give the name of a model, such as { model: "gpt-5-mini" }',
  },
  {
    title: 'no key',
    code: `new OpenAIChatModel({ model: 'gpt-5-mini' });`,
    run: 'OpenAIChatModel: give apiKey (or set OPENAI_API_KEY)',
  },
  {
    title: 'a wire imported from the main entry',
    code: `import { AnthropicChatModel } from 'advisor-chain';`,
    tsc: `Module '"advisor-chain"' has no exported member 'AnthropicChatModel'`,
    unhelpful: 'a module does not know which other one has the name',
  },
  {
    title: 'call() left out',
    code: `await client.prompt('Hi').content();`,
    tsc: `Property 'content' is protected`,
    run: 'InvalidArgumentError: use call().content() or stream().content()',
  },
  {
    title: 'prompt() left out',
    code: `await client.call('Hi');`,
    tsc: `Property 'call' is protected`,
    run: 'InvalidArgumentError: use prompt(text).call()',
  },
  {
    title: 'a stream without prompt()',
    code: `for await (const text of client.stream('Hi')) print(text);`,
    tsc: `Property 'stream' is protected`,
    run: 'InvalidArgumentError: use prompt(text).stream()',
  },
  {
    title: 'text of a call',
    code: `const { text } = await client.prompt('Hi').call(); print(text);`,
    tsc: `Property 'text' is protected`,
    run: 'InvalidArgumentError: use await content()',
  },
  {
    title: 'an answer that is not awaited',
    code: `const text: string | null = client.prompt('Hi').call().content();`,
    tsc: `Type 'Promise<string | null>' is not assignable to type 'string'`,
  },
  {
    title: 'an answer taken for a text',
    code: `const text: string = await client.prompt('Hi').call().content();`,
    tsc: `Type 'null' is not assignable to type 'string'`,
  },
  {
    title: 'a prompt of AI SDK form',
    code: `client.prompt({ prompt: 'Hi' });`,
    tsc: `'prompt' does not exist in type 'Prompt'`,
    run: 'input must be a non-blank string or a Prompt; use messages(…) for messages, not an object',
  },
  {
    title: 'messages in place of a text',
    code: `client.prompt([{ role: 'user', content: 'Hi' }]);`,
    tsc: `is not assignable to parameter of type 'string | Prompt | undefined'`,
    run: 'use messages(…) for messages, not an array of 1',
  },
  {
    title: 'a blank question',
    code: `client.prompt(' ');`,
    run: 'prompt(…): input must be a non-blank string',
  },
  {
    title: 'no question',
    code: `await client.prompt().call().content();`,
    run: 'the prompt has no messages; add one with prompt(text), user(…), system(…) or messages(…)',
  },
  {
    title: 'a text in place of a message',
    code: `client.prompt().messages('Hi');`,
    tsc: `is not assignable to parameter of type 'readonly Message[] | Message'`,
    run: 'messages(…): message 0: a message must be an object with a role, not "Hi"',
  },
  {
    title: 'text in place of content',
    code: `client.prompt().messages({ role: 'user', text: 'Hi' });`,
    tsc: `'text' does not exist in type`,
    run: 'a user message needs `content`, a string or an array of parts',
  },
  {
    title: 'a role of LangChain',
    code: `client.prompt().messages({ role: 'human', content: 'Hi' });`,
    tsc: `Type '"human"' is not assignable to type`,
    run: 'unknown role "human"; it is one of system, user, assistant, tool',
  },
  {
    title: 'an image of the OpenAI API',
    code: `client.prompt().messages({ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }] });`,
    tsc: `Type '"image_url"' is not assignable to type '"audio" | "file" | "image" | "raw" | "text"'`,
    run: 'content[0] has unknown type "image_url"; it is one of text, image, audio, file, raw',
  },
  {
    title: 'a stored message of the AI SDK with a call',
    code: `await client.prompt().messages({ role: 'assistant', content: [{ type: 'tool-call', toolCallId: '1', toolName: 'x', input: {} }] } as never).call().content();`,
    run: 'content[0] has unknown type "tool-call"; it is one of text, image, audio, file, raw (calls: `toolCalls`,',
  },
  {
    title: 'data without a media type',
    code: `client.prompt().messages({ role: 'user', content: [{ type: 'image', data: 'aGk=' }] });`,
    run: 'content[0] with `data` needs `mediaType`, such as "image/png"',
  },
  {
    title: 'a tool message of the OpenAI API',
    code: `client.prompt().messages({ role: 'tool', tool_call_id: 'c', content: 'x' });`,
    tsc: `'tool_call_id' does not exist in type`,
    run: 'a tool message needs `toolCallId`, the id of the call it answers',
  },
  {
    title: 'a history that ends in the middle of a call',
    code: `await client.prompt('And?').messages({ role: 'assistant', content: null, toolCalls: [{ id: 'c', name: 'weather', arguments: '{}' }] }).call().content();`,
    run: 'the call "c" of the tool "weather" has no result; nothing was sent: see repairHistory(messages)',
  },
  {
    title: 'a system message in place of a system text',
    code: `client.prompt('Hi').system({ role: 'system', content: 'x' });`,
    tsc: `'role' does not exist in type '(spec: SystemSpec) => SystemSpec'`,
    run: 'system(…): text must be a non-blank string, not an object',
  },
  {
    title: 'a template with another name',
    code: `await client.prompt().user('Describe {city}.', { town: 'Rome' }).call().content();`,
    run: 'TemplateError: the template needs values for {city}; add them with param(name, value)',
  },
  {
    title: 'a value of a template that is undefined',
    code: `client.prompt().user('Describe {city}.', { city: undefined });`,
    run: 'user(…): "city" must be a value, not undefined',
  },
];
