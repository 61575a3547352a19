/** Compile-time checks: what the functions of tools see as the types of their arguments. Nothing here runs. */
import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Observable } from 'rxjs';
import { z } from 'zod';
import * as mini from 'zod/mini';
import { z as zodThree } from 'zod/v3';
import { z as zodThreePackage } from 'zod3';
import {
  AdvisorContext,
  afterCalls,
  afterToolCall,
  agentTool,
  ApprovalAdvisor,
  augmentTools,
  ChatClient,
  type ChatClientResponse,
  defineTool,
  type prefixTools,
  Tool,
  toolResult,
  ToolCallingManager,
  type ChatEvent,
  type ChatModel,
  type ChatResponse,
  type InferToolInput,
  type InferToolOutput,
  type LimitExceededError,
  type NamedTool,
  type PromptSpec,
  type ToolCall,
  type ToolContext,
  type ToolContextValues,
  type ToolExecutionResult,
  type ToolProvider,
  type ToolResult,
} from '../../src/index.js';
import type { InferInput, InferOutput } from '../../src/core/json-schema/index.js';
import type { JsonValue } from '../../src/core/internal/json.js';
import type { ToolValue } from '../../src/core/tool/tool.js';

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const exactly = <A, B>(_same: Equal<A, B>): void => undefined;

interface Trip {
  readonly city: string;
  readonly days: number;
  readonly unit?: 'c' | 'f' | undefined;
  readonly stops: readonly { readonly name: string }[];
}

// zod 4: what comes out of the schema, defaults and transforms applied
const four = z.object({
  city: z.string(),
  days: z.number().default(3),
  unit: z.enum(['c', 'f']).optional(),
  at: z.string().transform((text) => text.length),
  near: z.object({ lat: z.number() }).nullable(),
});
export const zodFour: Tool = defineTool({
  name: 'four',
  input: four,
  execute: (args, context) => {
    exactly<
      typeof args,
      {
        city: string;
        days: number;
        unit?: 'c' | 'f' | undefined;
        at: number;
        near: { lat: number } | null;
      }
    >(true);
    exactly<typeof context, ToolContext>(true);
    exactly<typeof context.call, ToolCall>(true);
    exactly<typeof context.signal, AbortSignal>(true);
    exactly<typeof context.values, ToolContextValues>(true);
    exactly<typeof context.advisorContext, AdvisorContext>(true);
    exactly<Parameters<typeof context.progress>, [data: unknown]>(true);
    // @ts-expect-error the schema has no such property
    void args.country;
    return args.city;
  },
});
exactly<InferOutput<typeof four>, z.output<typeof four>>(true);
exactly<InferInput<typeof four>, z.input<typeof four>>(true);

// zod 4 mini
defineTool({
  name: 'mini',
  input: mini.object({ city: mini.string(), days: mini.optional(mini.number()) }),
  execute: (args) => exactly<typeof args, { city: string; days?: number | undefined }>(true),
});

// a union within, discriminated by a literal
defineTool({
  name: 'union',
  input: z.object({
    by: z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('car'), seats: z.int() }),
      z.object({ kind: z.literal('foot') }),
    ]),
  }),
  execute: ({ by }) => (by.kind === 'car' ? by.seats : 0),
});

// zod 3, as a package and as zod ships it
defineTool({
  name: 'three',
  input: zodThree.object({
    city: zodThree.string(),
    days: zodThree.number().default(3),
    at: zodThree.string().transform((text) => text.length),
  }),
  execute: (args) => exactly<typeof args, { city: string; days: number; at: number }>(true),
});
defineTool({
  name: 'three',
  input: zodThreePackage.object({
    city: zodThreePackage.string(),
    note: zodThreePackage.string().optional(),
  }),
  execute: async (args) => {
    exactly<typeof args, { city: string; note?: string | undefined }>(true);
    return Promise.resolve(args.note);
  },
});

// any Standard Schema
declare const standard: StandardSchemaV1<{ city: string }, Trip>;
defineTool({
  name: 'standard',
  input: standard,
  inputSchema: { type: 'object', properties: {} },
  execute: (args) => exactly<typeof args, Trip>(true),
});

// a schema of a library as inputSchema is an input too
const named = defineTool({
  name: 'named',
  inputSchema: z.object({ city: z.string(), days: z.number().default(1) }),
  concurrencyKey: (args) => args.city,
  execute: (args) => exactly<typeof args, { city: string; days: number }>(true),
});
exactly<typeof named, NamedTool<'named', { city: string; days: number }, void>>(true);
defineTool({
  name: 'named',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } } },
  execute: (args) => exactly<typeof args, Readonly<Record<string, unknown>>>(true),
});

// without execute the client runs the tool: its output is of the schema, or else JSON
const locate = defineTool({
  name: 'locate',
  input: z.object({ precise: z.boolean().default(false) }),
  output: z.object({ city: z.string(), at: z.coerce.date() }),
  toModelOutput: ({ city }) => city,
});
exactly<typeof locate, NamedTool<'locate', { precise: boolean }, { city: string; at: Date }>>(true);
const shown = defineTool({ name: 'shown' });
exactly<typeof shown, NamedTool<'shown', Readonly<Record<string, unknown>>, JsonValue>>(true);
// @ts-expect-error it is there, or it is left out
defineTool({ name: 'later', execute: undefined });

// plain JSON Schema, and none: any object
defineTool({
  name: 'plain',
  input: { type: 'object', properties: { city: { type: 'string' } } } as const,
  execute: (args) => exactly<typeof args, Readonly<Record<string, unknown>>>(true),
});
defineTool({
  name: 'none',
  execute: (args) => exactly<typeof args, Readonly<Record<string, unknown>>>(true),
});
defineTool({ name: 'ignores', input: four, execute: () => undefined });

// what a tool gives back is free; toolResult checks what it is given
defineTool({ name: 'free', execute: () => [new Map(), 1n, undefined] });
exactly<ReturnType<typeof toolResult>, ToolResult>(true);
toolResult({ unlocks: ['a'], context: AdvisorContext.empty });
toolResult({ value: 1 });
toolResult({ content: [{ type: 'image', url: 'https://example.com/a.png' }], isError: true });
// @ts-expect-error content is a text or parts
toolResult({ content: 7 });
// @ts-expect-error unlocks are names
toolResult({ unlocks: [1] });

// options that do not exist or do not fit
// @ts-expect-error no name
defineTool({ execute: () => 1 });
// @ts-expect-error not an option
defineTool({ name: 'x', execute: () => 1, schema: four });
// @ts-expect-error a number is no schema
defineTool({ name: 'x', input: 7, execute: () => 1 });
// @ts-expect-error a text is no time
defineTool({ name: 'x', timeout: '5', execute: () => 1 });

// the manager and its errors
declare const response: ChatResponse;
declare const prompt: Parameters<ToolCallingManager['executeToolCalls']>[0];
exactly<ReturnType<ToolCallingManager['executeToolCalls']>, Promise<ToolExecutionResult>>(true);
export const history = async (): Promise<readonly string[]> => {
  const result = await new ToolCallingManager().executeToolCalls(prompt, response);
  return result.messages.map((message) => message.toolCallId);
};
declare const limit: LimitExceededError<ToolExecutionResult, ChatResponse>;
exactly<typeof limit.result, ToolExecutionResult>(true);
exactly<typeof limit.response, ChatResponse>(true);

// what the model is shown: the value of the function, of its Promise, or the items of its generator
defineTool({
  name: 'async',
  execute: async () => ({ rows: [1, 2] }),
  toModelOutput: (value) => {
    exactly<typeof value, { rows: number[] }>(true);
    return value.rows;
  },
});
defineTool({
  name: 'items',
  async *execute() {
    yield 'text';
    yield 7;
  },
  toModelOutput: (value) => {
    exactly<typeof value, 7 | 'text'>(true);
    return value;
  },
});
exactly<ToolValue<Promise<AsyncGenerator<string, number>>>, string | number>(true);
exactly<ToolValue<Observable<Date>>, Date>(true);
exactly<ToolValue<void>, void>(true);

// the key sees the arguments that the function sees
defineTool({
  name: 'keyed',
  input: four,
  concurrencyKey: (args) => {
    exactly<typeof args.city, string>(true);
    return args.city;
  },
  execute: () => undefined,
});

// methods: their first parameter must take what comes out of the schema
export class Methods {
  @Tool({ input: z.object({ city: z.string(), days: z.number().default(1) }) })
  exact(args: { city: string; days: number }, context: ToolContext): string {
    return args.city + context.call.id;
  }

  @Tool({ inputSchema: z.object({ city: z.string(), days: z.number().default(1) }) })
  named(args: { city: string; days: number }): string {
    return args.city;
  }

  @Tool({ input: z.object({ city: z.string() }) })
  less(args: object): string {
    return Object.keys(args).join();
  }

  @Tool()
  none(): void {}

  // @ts-expect-error the schema gives a text, not a number
  @Tool({ input: z.object({ city: z.string() }) })
  wrong(args: { city: number }): number {
    return args.city;
  }

  // @ts-expect-error the schema has no such property
  @Tool({ input: z.object({ city: z.string() }) })
  more(args: { country: string }): string {
    return args.country;
  }

  // @ts-expect-error a field is no method
  @Tool()
  field = 7;

  // @ts-expect-error a getter is no method
  @Tool()
  get size(): number {
    return 7;
  }
}

// augmented: the function sees the additional arguments with their types
augmentTools([zodFour], z.object({ reason: z.string(), sure: z.number().default(1) }), (extra) => {
  exactly<typeof extra.arguments, { reason: string; sure: number }>(true);
});
exactly<ReturnType<typeof prefixTools<readonly Tool[]>>, readonly Tool[]>(true);
exactly<ReturnType<typeof prefixTools<ToolProvider>>, ToolProvider>(true);

// [D31] a tool has the types of its name, its arguments and its result
const forecast = defineTool({
  name: 'forecast',
  input: z.object({ city: z.string(), days: z.number().default(1) }),
  execute: async ({ city }) => ({ city, rain: true }),
});
exactly<
  typeof forecast,
  NamedTool<'forecast', { city: string; days: number }, { city: string; rain: boolean }>
>(true);
exactly<typeof forecast.name, 'forecast'>(true);
exactly<InferToolInput<typeof forecast>, { city: string; days: number }>(true);
exactly<InferToolOutput<typeof forecast>, { city: string; rain: boolean }>(true);
const given = defineTool({ name: 'given', execute: () => toolResult({ value: 7 }) });
exactly<InferToolOutput<typeof given>, number>(true);
const page = defineTool({ name: 'page', execute: () => ({ content: 'Text', value: 7 }) });
exactly<InferToolOutput<typeof page>, { content: string; value: number }>(true); // no toolResult
const streamed = defineTool({
  name: 'streamed',
  *execute() {
    yield 'text';
    return 7;
  },
});
exactly<InferToolOutput<typeof streamed>, string | number>(true);
exactly<InferToolOutput<Tool>, unknown>(true);
export const plainTools: readonly Tool[] = [forecast, given, streamed];

declare const model: ChatModel;

// an agent gets the arguments of its schema, or a message
agentTool(ChatClient.create(model), {
  name: 'asked',
  turn: (turn, args) => {
    exactly<typeof args, { readonly message: string }>(true);
    return turn;
  },
});
const agent = agentTool(ChatClient.create(model), {
  name: 'agent',
  inputSchema: z.object({ topic: z.string() }),
  turn: (turn, { topic }) => turn.user(topic),
});
exactly<typeof agent, NamedTool<'agent', { topic: string }, string>>(true);

// [D31] events and steps have the types of the tools of their client, by the name of the tool
const client = ChatClient.builder(model).defaultTools(forecast).build();
exactly<typeof client, ChatClient<typeof forecast>>(true);
const spec = client.prompt('hi').tools([given]).system('S').options({ temperature: 0 });
exactly<typeof spec, PromptSpec<typeof forecast | typeof given>>(true);
spec
  .stream()
  .events()
  .subscribe((event) => {
    if (event.type === 'tool-call') exactly<typeof event.toolName, 'forecast' | 'given'>(true);
    if (event.type === 'tool-result' && event.toolName === 'forecast') {
      exactly<typeof event.call.name, 'forecast'>(true);
      exactly<typeof event.call.input, { city: string; days: number } | undefined>(true);
      exactly<typeof event.result.value, { city: string; rain: boolean } | undefined>(true);
    }
    // @ts-expect-error no tool has this name
    if (event.type === 'tool-result' && event.toolName === 'forcast') void event;
  });
for (const { toolCalls } of (await spec.call().chatClientResponse()).steps)
  for (const record of toolCalls)
    if (record.toolName === 'given')
      exactly<typeof record.result, ToolResult<number> | undefined>(true);

// [D31] tools that are not known, or not all: any name, and a result of any type
for (const unknown of [ChatClient.create(model).prompt(), spec.tools({} as Tool)])
  unknown
    .stream()
    .events()
    .subscribe((event) => {
      if (event.type !== 'tool-result') return;
      exactly<typeof event.toolName, string>(true);
      exactly<typeof event.call.input, unknown>(true);
      exactly<typeof event.result.value, unknown>(true);
    });
export const anySpec: PromptSpec = spec;
export const anyClient: ChatClient = client;
export const anyEvents: Observable<ChatEvent> = spec.stream().events();

// [D63] with an output schema, the result has the type that comes out of the schema
const Money = z.object({ kind: z.literal('money'), cents: z.string().transform(Number) });
const price = defineTool({
  name: 'price',
  input: z.object({ item: z.string() }),
  output: Money,
  execute: ({ item }) => ({ kind: 'money', cents: item }),
  toModelOutput: (value) => {
    exactly<typeof value, { kind: 'money'; cents: number }>(true);
    return value.cents;
  },
});
exactly<InferToolOutput<typeof price>, { kind: 'money'; cents: number }>(true);
const fetched = defineTool({ name: 'x', output: Money, execute: () => new Response().json() });
exactly<InferToolOutput<typeof fetched>, { kind: 'money'; cents: number }>(true);
const loose = defineTool({ name: 'x', output: { type: 'object' }, execute: () => ({ a: 7 }) });
exactly<InferToolOutput<typeof loose>, { a: number }>(true);
exactly<
  Awaited<ReturnType<ReturnType<typeof spec.stream>['finalResponse']>>,
  ChatClientResponse<typeof forecast | typeof given>
>(true);

// stop conditions take the names of tools in the chain, and see the types of their results
const lookUp = defineTool({ name: 'look_up', execute: () => 1 });
const ofTools = ChatClient.create(stopModel).prompt('?').tools(lookUp);
ofTools.stopWhen(afterToolCall('look_up'), afterCalls(3), async () => true);
ofTools.stopWhen((steps) => {
  for (const call of steps.at(-1)?.toolCalls ?? [])
    if (call.toolName === 'look_up') call.result?.value satisfies number | undefined;
  return steps.length > 3;
});
// @ts-expect-error no tool has this name
ofTools.stopWhen(afterToolCall('lookup'));
// @ts-expect-error a condition is a function
ofTools.stopWhen(3);
ofTools.mutate().defaultStopWhen(afterToolCall('look_up'));
ofTools.tools(anyTool).stopWhen(afterToolCall('some_name'));

// a policy with the types of tools
const refund = defineTool({
  name: 'refund',
  input: z.object({ order: z.number() }),
  execute: () => 'Refunded.',
});
new ApprovalAdvisor<typeof refund | typeof lookUp>({
  policy: {
    refund: ({ arguments: { order } }) => {
      exactly<typeof order, number>(true);
      return order > 100 ? 'ask' : 'allow';
    },
    'db_*': ({ arguments: args }) => (args === undefined ? 'deny' : 'ask'),
  },
});
// @ts-expect-error no tool has this name
new ApprovalAdvisor<typeof refund>({ policy: { refnd: 'ask' } });
new ApprovalAdvisor({ policy: { any: ({ arguments: args }) => (args ? 'ask' : 'deny') } });

declare const stopModel: ChatModel;
declare const anyTool: Tool;
