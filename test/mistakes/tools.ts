import type { Mistake } from './mistake.js';

/** Mistakes with tools. */
export const TOOLS: readonly Mistake[] = [
  {
    title: 'a record of tools',
    code: `client.prompt('Hi').tools({ weather });`,
    tsc: `'weather' does not exist in type 'Tool<`,
    run: 'not an object of tools; each has its name already: tools(weather)',
  },
  {
    title: 'a tool by its name',
    code: `client.prompt('Hi').tools('weather');`,
    tsc: `Argument of type 'string' is not assignable to parameter of type 'ToolInput'`,
    run: 'expected a tool with definition, metadata and call, such as defineTool({ … }) returns, not "weather"',
  },
  {
    title: 'a tool of the AI SDK',
    code: `client.prompt('Hi').tools({ description: 'x', inputSchema: z.object({}), execute: () => 'x' });`,
    run: 'expected a tool with definition, metadata and call, such as defineTool({ … }) returns, not an object',
  },
  {
    title: 'a tool of LangChain',
    code: `client.prompt('Hi').tools({ name: 'w', description: 'x', schema: z.object({}), invoke: async () => 'x' });`,
    run: 'such as defineTool({ … }) returns, not an object',
  },
  {
    title: 'a promise of tools',
    code: `client.prompt('Hi').tools(Promise.resolve([weather]));`,
    run: 'not an instance of Promise; await it, or pass a tool provider',
  },
  {
    title: 'an object without decorated methods',
    code: `class Orders { state() { return 'x'; } } client.prompt('Hi').tools(new Orders());`,
    run: 'decorate its methods with @Tool({ … }) and pass toolsFrom(instance)',
  },
  {
    title: 'the schema as parameters',
    code: `defineTool({ name: 'w', parameters: z.object({ city: z.string() }), execute: () => 'x' });`,
    tsc: `'parameters' does not exist in type 'ToolOptions<`,
    run: 'ToolDefinitionError: tool "w": there is no option `parameters`; use `input`',
  },
  {
    title: 'the function and then the options, as in LangChain',
    code: `defineTool(() => 'x', { name: 'w' });`,
    tsc: 'Expected 1 arguments, but got 2',
    run: 'the argument must be an object { name, description, input, execute }, not a function',
  },
  {
    title: 'func in place of execute',
    code: `defineTool({ name: 'w', func: () => 'x' });`,
    tsc: `'func' does not exist in type 'ToolOptions<`,
    run: 'there is no option `func`; use `execute`',
  },
  {
    title: 'an execute that is no function',
    code: `defineTool({ name: 'w', input: z.object({ city: z.string() }), execute: 'Sunny.' });`,
    tsc: `Type 'string' is not assignable to type`,
    run: 'tool "w": execute must be a function, not "Sunny."',
  },
  {
    title: 'no name',
    code: `defineTool({ description: 'x', execute: () => 'x' });`,
    tsc: `Property 'name' is missing`,
    run: 'name must be 1 to 64 letters, digits, "_" or "-", not undefined',
  },
  {
    title: 'a name with a blank',
    code: `defineTool({ name: 'get weather', execute: () => 'x' });`,
    run: 'name must be 1 to 64 letters, digits, "_" or "-", not "get weather"',
  },
  {
    title: 'two tools of one name',
    code: `client.prompt('Hi').tools(weather, defineTool({ name: 'weather', execute: () => 'x' }));`,
    run: 'two tools have the same name: weather. Rename one of them or leave it out.',
  },
  {
    title: 'a function of several arguments',
    code: `defineTool({ name: 'add', input: z.object({ a: z.number(), b: z.number() }), execute: (a: number, b: number) => a + b });`,
    tsc: `Type '{ a: number; b: number; }' is not assignable to type 'number'`,
  },
  {
    title: 'an argument that the schema does not have',
    code: `defineTool({ name: 'w', input: z.object({ city: z.string() }), execute: ({ town }) => town });`,
    tsc: `Property 'town' does not exist on type '{ city: string; }'`,
  },
  {
    title: 'fields without z.object',
    code: `defineTool({ name: 'w', input: { city: z.string() }, execute: () => 'x' });`,
    run: '"city" is a schema of zod inside a plain one; make the whole with zod: z.object({ … })',
  },
  {
    title: 'arguments that are no object',
    code: `defineTool({ name: 'w', input: z.string(), execute: () => 'x' });`,
    run: 'its arguments must be an object (type "object" at the root), the schema has "string"',
  },
  {
    title: 'a date as an argument',
    code: `defineTool({ name: 'w', input: z.object({ at: z.date() }), execute: () => 'x' });`,
    run: 'z.coerce.date() makes a date from text',
  },
  {
    title: 'a schema that a circular import has left undefined',
    code: `defineTool({ name: 'w', input: undefined, execute: () => 'x' });`,
    run: 'input must be a schema, or left out, not undefined',
  },
  {
    title: 'a misspelt effect',
    code: `defineTool({ name: 'w', effect: 'writes', execute: () => 'x' });`,
    tsc: `Did you mean '"write"'?`,
    run: `effect must be 'read', 'idempotent' or 'write', not "writes"`,
  },
  {
    title: 'a time limit with a unit',
    code: `defineTool({ name: 'w', timeout: '30s', execute: () => 'x' });`,
    tsc: `Type 'string' is not assignable to type 'number'`,
    run: 'timeout must be a number of milliseconds > 0 and < 2 ** 31, or Infinity, not "30s"',
  },
  {
    title: 'retries of a tool with effects',
    code: `defineTool({ name: 'pay', retries: 2, execute: () => 'x' });`,
    run: `retries needs the effect 'read' or 'idempotent', not undefined`,
  },
  {
    title: 'needsApproval of a tool',
    code: `defineTool({ name: 'pay', needsApproval: true, execute: () => 'x' });`,
    tsc: `'needsApproval' does not exist in type 'ToolOptions<`,
    run: 'there is no option `needsApproval`; use `effect`',
  },
  {
    title: 'a function as the result',
    code: `const t = defineTool({ name: 't', execute: () => () => 'x' }); await showResult(t);`,
    run: '[function anonymous: JSON cannot express it; the tool must return what it contains]',
  },
  {
    title: 'a response of fetch as the result',
    code: `const t = defineTool({ name: 't', execute: () => new Response('x') }); await showResult(t);`,
    run: '[Response: JSON cannot express it; the tool must return what it contains]',
  },
  {
    title: 'an error of a tool, which the events have',
    code: `const t = defineTool({ name: 't', execute: () => { throw new Error('no such order'); } }); await showResult(t);`,
    run: 'The tool "t" failed. Error id: scripted_1\nError: no such order',
  },
  {
    title: 'a question of a tool without people',
    code: `const t = defineTool({ name: 't', execute: async (_, { ask }) => ask(z.string(), 'Name?') }); await showResult(t);`,
    run: 'ask(…) needs an ApprovalAdvisor with pause or decide in the chain',
  },
  {
    title: 'the name of a tool as its choice',
    code: `client.prompt('Hi').tools(weather).options({ toolChoice: 'weather' });`,
    tsc: `Type '"weather"' is not assignable to type 'ToolChoice | undefined'`,
    run: `toolChoice must be 'auto', 'none', 'required' or { tool: name }, not "weather"`,
  },
  {
    title: 'a choice of a tool that is not there',
    code: `await client.prompt('Hi').tools(weather).options({ toolChoice: { tool: 'wheather' } }).call().content();`,
    run: 'toolChoice names "wheather", which is none of its tools; nothing was sent',
  },
  {
    title: 'maxSteps of the AI SDK',
    code: `client.prompt('Hi').options({ maxSteps: 5 });`,
    tsc: `'maxSteps' does not exist in type 'ChatOptions'`,
    run: 'there is no option `maxSteps`; see the methods signal, stopWhen, conversation',
  },
  {
    title: 'a number of steps as stop condition',
    code: `client.prompt('Hi').stopWhen(5);`,
    tsc: `Argument of type 'number' is not assignable to parameter of type 'StopConditionOf<`,
    run: 'stopWhen(…): condition must be a function, not 5',
  },
  {
    title: 'a stop condition for a tool that is not there',
    code: `client.prompt('Hi').tools(weather).stopWhen(afterToolCall('wheather'));`,
    tsc: `Type '"wheather"' is not assignable to type '"weather"'`,
  },
  {
    title: 'an event of the AI SDK',
    code: `for await (const event of client.prompt('Hi').stream().events()) if (event.type === 'tool-input-start') print(event);`,
    tsc: '"tool-call" | "tool-call-delta"',
  },
];
