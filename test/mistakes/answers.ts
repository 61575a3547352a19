import type { Mistake } from './mistake.js';

const ANSWER = 'fetch: async () => ';

/** Mistakes with options, servers, streams, structured output, scripts and MCP. */
export const ANSWERS: readonly Mistake[] = [
  {
    title: 'a negative temperature',
    code: `client.prompt('Hi').options({ temperature: -1 });`,
    run: 'options(…): temperature must be a number >= 0, not -1',
  },
  {
    title: 'a limit that is NaN',
    code: `client.prompt('Hi').options({ maxTokens: Number('many') });`,
    run: 'options(…): maxTokens must be an integer >= 1, not NaN',
  },
  {
    title: 'an option in snake case',
    code: `client.prompt('Hi').options({ max_tokens: 5 });`,
    tsc: `Did you mean to write 'maxTokens'?`,
    run: 'there is no option `max_tokens`; did you mean `maxTokens`?',
  },
  {
    title: 'maxOutputTokens of the AI SDK',
    code: `client.prompt('Hi').options({ maxOutputTokens: 5 });`,
    tsc: `'maxOutputTokens' does not exist in type 'ChatOptions'`,
    run: 'there is no option `maxOutputTokens`; did you mean `maxTokens`?',
  },
  {
    title: 'the signal as an option',
    code: `client.prompt('Hi').options({ abortSignal: new AbortController().signal });`,
    tsc: `'abortSignal' does not exist in type 'ChatOptions'`,
    run: 'there is no option `abortSignal`; see the methods signal, stopWhen, conversation',
  },
  {
    title: 'a controller in place of its signal',
    code: `client.prompt('Hi').signal(new AbortController());`,
    tsc: `is missing the following properties from type 'AbortSignal'`,
    run: 'signal(…): signal must be an AbortSignal, not an object',
  },
  {
    title: 'baseUrl in place of baseURL',
    code: `new OpenAIChatModel({ model: 'm', baseUrl: 'http://127.0.0.1:11434/v1' });`,
    tsc: `Did you mean to write 'baseURL'?`,
    run: 'there is no option `baseUrl`; did you mean `baseURL`?',
  },
  {
    title: 'an address without http',
    code: `new OpenAIChatModel({ model: 'm', baseURL: '127.0.0.1:11434/v1' });`,
    run: 'baseURL must be an address that begins with http:// or https://',
  },
  {
    title: 'a name in place of fetch',
    code: `new OpenAIChatModel({ model: 'm', apiKey: 'k', fetch: 'node-fetch' });`,
    tsc: `Type 'string' is not assignable to type`,
    run: 'fetch must be a function, not "node-fetch"',
  },
  {
    title: 'an address whose server answers with a page',
    code: `await ChatClient.create(new OpenAIChatModel({ model: 'm', apiKey: 'k', ${ANSWER}new Response('<html>', { headers: { 'content-type': 'text/html' } }) })).prompt('Hi').call().content();`,
    run: 'The server answered, but not with a chat completion (text/html). Does the base URL belong to the API?',
  },
  {
    title: 'a wrong key',
    code: `await ChatClient.create(new OpenAIChatModel({ model: 'm', apiKey: 'k', ${ANSWER}Response.json({ error: { message: 'Unauthorized' } }, { status: 401 }) })).prompt('Hi').call().content();`,
    run: 'The server answered 401: Unauthorized; check apiKey',
  },
  {
    title: 'a model that the server does not have',
    code: `await ChatClient.create(new OpenAIChatModel({ model: 'gpt-0', apiKey: 'k', ${ANSWER}Response.json({ error: { message: 'not found' } }, { status: 404 }) })).prompt('Hi').call().content();`,
    run: 'The server answered 404: not found; check model and baseURL',
  },
  {
    title: 'an address where no server is',
    code: `await ChatClient.create(new OpenAIChatModel({ model: 'm', baseURL: 'http://127.0.0.1:9/v1', maxRetries: 0 })).prompt('Hi').call().content();`,
    run: 'The server at http://127.0.0.1:9/v1/chat/completions could not be reached',
  },
  {
    title: 'a stream taken for a text',
    code: `const text: string = await client.prompt('Hi').stream();`,
    tsc: `Type 'StreamResult<never>' is not assignable to type 'string'`,
    unhelpful: 'await of what is no promise is allowed, and the compiler only compares types',
  },
  {
    title: 'textStream of the AI SDK',
    code: `for await (const text of client.prompt('Hi').stream().textStream) print(text);`,
    tsc: `Property 'textStream' is protected`,
    run: 'InvalidArgumentError: use for await (const text of stream)',
  },
  {
    title: 'subscribe on the result of a stream',
    code: `client.prompt('Hi').stream().subscribe(print);`,
    tsc: `Property 'subscribe' is protected`,
    run: 'InvalidArgumentError: use content().subscribe(…)',
  },
  {
    title: 'a loop over a call',
    code: `for await (const text of client.prompt('Hi').call()) print(text);`,
    tsc: `Type 'CallResult<never>'`,
    run: 'InvalidArgumentError: use stream() in place of call()',
  },
  {
    title: 'an unknown option of a stream',
    code: `client.prompt('Hi').stream({ mode: 'values' });`,
    tsc: `'mode' does not exist in type 'StreamOptions'`,
    run: 'stream(…): there is no option `mode`; there are separator, onRetract',
  },
  {
    title: 'an entity without a schema',
    code: `interface City { name: string } await client.prompt('Hi').call().entity<City>();`,
    tsc: `Expected 1-2 arguments, but got 0`,
    run: 'entity(…): the schema must be a zod schema, a Standard Schema or a JSON Schema object, not undefined',
  },
  {
    title: 'a class in place of a schema',
    code: `class City { name = ''; } await client.prompt('Hi').call().entity(City);`,
    tsc: `Argument of type 'typeof City' is not assignable to parameter of type 'InputSchema'`,
    run: 'the schema must be a zod schema, a Standard Schema or a JSON Schema object, not a function',
  },
  {
    title: 'fields of an entity without z.object',
    code: `await client.prompt('Hi').call().entity({ name: z.string() });`,
    run: '"name" is a schema of zod inside a plain one; make the whole with zod: z.object({ … })',
  },
  {
    title: 'an entity that is not awaited',
    code: `const city = asksInJson.prompt('Hi').call().entity(z.object({ name: z.string() })); print(city.name);`,
    tsc: `Property 'name' does not exist on type 'Promise<{ name: string; }>'`,
  },
  {
    title: 'an entity after content()',
    code: `const result = client.prompt('Hi').call(); await result.content(); await result.entity(z.object({ name: z.string() }));`,
    run: 'The model did not get the schema: call entity(…) first',
  },
  {
    title: 'a field of an entity by JSON Schema',
    code: `const city = await asksInJson.prompt('Hi').call().entity({ type: 'object', properties: { name: { type: 'string' } } }); const name: string = city.name;`,
    tsc: `Type 'unknown' is not assignable to type 'string'`,
  },
  {
    title: 'a response format of the OpenAI API',
    code: `client.prompt('Hi').options({ responseFormat: { type: 'json_schema', json_schema: {} } });`,
    tsc: `'type' does not exist in type '{ readonly schema: JsonSchema;`,
    run: `responseFormat must be 'text', 'json' or { schema }, not an object`,
  },
  {
    title: 'a script that ends too early',
    code: `const short = ChatClient.create(new ScriptedChatModel(['One.'])); await short.prompt('1').call().content(); await short.prompt('2').call().content();`,
    run: 'ScriptExhaustedError: The scripted model was asked 2 times but has 1 answer; add one, or pass a function.',
  },
  {
    title: 'a list of promises as a script',
    code: `new ScriptedChatModel([Promise.resolve('Hi')]);`,
    tsc: `Type 'Promise<string>' is not assignable to type 'ScriptedAnswer'`,
    run: 'not a promise; a function may return one',
  },
  {
    title: 'a script of options',
    code: `new ScriptedChatModel({ responses: ['x'] });`,
    tsc: `'responses' does not exist in type`,
    run: 'the script must be a text, an array of answers, or a function that returns an answer, not an object',
  },
  {
    title: 'a scripted call of AI SDK form',
    code: `new ScriptedChatModel([{ toolCalls: [{ toolName: 'w', args: {} }] }]);`,
    tsc: `'toolName' does not exist in type 'ScriptedToolCall'`,
    run: 'there is no option `toolCalls[0].toolName`; did you mean `name`?',
  },
  {
    title: 'mcpServers in place of servers',
    code: `mcpTools({ mcpServers: { files: { command: 'npx' } } });`,
    tsc: `Did you mean to write 'servers'?`,
    run: 'there is no option `mcpServers`; did you mean `servers`?',
  },
  {
    title: 'the command of an MCP server with its arguments',
    code: `mcpTools({ servers: { files: { command: ['npx', '-y', 'server'] } } });`,
    tsc: `Type 'string[]' is not assignable to type 'string'`,
    run: 'command must be a program without its arguments, which go into args, not an array of 3',
  },
  {
    title: 'the command of an MCP server that is not installed',
    code: `await client.prompt('Hi').tools(mcpTools({ servers: { files: { command: 'no-such-program' } } })).call().content();`,
    run: 'spawn no-such-program ENOENT; `command` must be an installed program',
  },
  {
    title: 'the address of an MCP server without http',
    code: `mcpTools({ servers: { docs: { url: 'docs.example' } } });`,
    run: 'url must be a URL, such as http://127.0.0.1:3000/mcp, not "docs.example"',
  },
];
