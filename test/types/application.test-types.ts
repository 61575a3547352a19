/**
 * A realistic application for type-check timing: 30 tools with exact argument types and 10
 * advisors. Not executed.
 */
import { z } from 'zod';
import {
  ChatClient,
  ContextKey,
  CONVERSATION_ID,
  defineAdvisor,
  defineTool,
  toolCallingAutoRegister,
  type ChatModel,
} from '../../src/index.js';

const weather = defineTool({
  name: 'weather',
  description: 'Tool 1.',
  effect: 'read',
  input: z.object({
    city: z.string().describe('Name of the city'),
    unit: z.enum(['C', 'F']).default('C'),
  }),
  execute: ({ city, unit }) => `${city.length} ${unit satisfies 'C' | 'F'}`,
});
const transfer = defineTool({
  name: 'transfer',
  description: 'Tool 2.',
  effect: 'idempotent',
  retries: 2,
  input: z.object({
    from: z.string(),
    to: z.string(),
    cents: z.number().int().positive(),
    memo: z.string().optional(),
  }),
  execute: ({ from, to, cents, memo }) => [from.trim(), to.trim(), cents.toFixed(2), memo?.trim()],
});
const search = defineTool({
  name: 'search',
  description: 'Tool 3.',
  timeout: 5_000,
  input: z.object({
    query: z.string().min(1),
    limit: z.number().int().max(100).optional(),
    tags: z.array(z.string()),
  }),
  execute: ({ query, limit, tags }) => tags.map((tag) => `${query}${tag.trim()}`).slice(0, limit),
});
const remind = defineTool({
  name: 'remind',
  description: 'Tool 4.',
  returnDirect: true,
  input: z.object({
    at: z.string().transform((text) => new Date(text)),
    repeat: z.union([z.literal('daily'), z.literal('weekly')]).nullable(),
  }),
  execute: ({ at, repeat }) => [at.getTime(), repeat?.length],
});
const order = defineTool({
  name: 'order',
  description: 'Tool 5.',
  effect: 'write',
  concurrencyKey: ({ order }) => order.id,
  input: z.object({
    order: z.object({
      id: z.string(),
      lines: z.array(z.object({ sku: z.string(), count: z.number() })),
    }),
  }),
  execute: ({ order }) => order.lines.reduce((sum, { count }) => sum + count, order.id.length),
});
const area = defineTool({
  name: 'area',
  description: 'Tool 6.',
  input: z.object({
    shape: z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('circle'), r: z.number() }),
      z.object({ kind: z.literal('box'), a: z.number(), b: z.number() }),
    ]),
  }),
  execute: ({ shape }) => (shape.kind === 'circle' ? shape.r ** 2 : shape.a * shape.b),
  toModelOutput: (value) => value,
});
const forecast = defineTool({
  name: 'forecast',
  description: 'Tool 7.',
  effect: 'read',
  input: z.object({
    city: z.string().describe('Name of the city'),
    unit: z.enum(['C', 'F']).default('C'),
  }),
  execute: ({ city, unit }) => `${city.length} ${unit satisfies 'C' | 'F'}`,
});
const pay = defineTool({
  name: 'pay',
  description: 'Tool 8.',
  effect: 'idempotent',
  retries: 2,
  input: z.object({
    from: z.string(),
    to: z.string(),
    cents: z.number().int().positive(),
    memo: z.string().optional(),
  }),
  execute: ({ from, to, cents, memo }) => [from.trim(), to.trim(), cents.toFixed(2), memo?.trim()],
});
const find = defineTool({
  name: 'find',
  description: 'Tool 9.',
  timeout: 5_000,
  input: z.object({
    query: z.string().min(1),
    limit: z.number().int().max(100).optional(),
    tags: z.array(z.string()),
  }),
  execute: ({ query, limit, tags }) => tags.map((tag) => `${query}${tag.trim()}`).slice(0, limit),
});
const schedule = defineTool({
  name: 'schedule',
  description: 'Tool 10.',
  returnDirect: true,
  input: z.object({
    at: z.string().transform((text) => new Date(text)),
    repeat: z.union([z.literal('daily'), z.literal('weekly')]).nullable(),
  }),
  execute: ({ at, repeat }) => [at.getTime(), repeat?.length],
});
const restock = defineTool({
  name: 'restock',
  description: 'Tool 11.',
  effect: 'write',
  concurrencyKey: ({ order }) => order.id,
  input: z.object({
    order: z.object({
      id: z.string(),
      lines: z.array(z.object({ sku: z.string(), count: z.number() })),
    }),
  }),
  execute: ({ order }) => order.lines.reduce((sum, { count }) => sum + count, order.id.length),
});
const measure = defineTool({
  name: 'measure',
  description: 'Tool 12.',
  input: z.object({
    shape: z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('circle'), r: z.number() }),
      z.object({ kind: z.literal('box'), a: z.number(), b: z.number() }),
    ]),
  }),
  execute: ({ shape }) => (shape.kind === 'circle' ? shape.r ** 2 : shape.a * shape.b),
  toModelOutput: (value) => value,
});
const climate = defineTool({
  name: 'climate',
  description: 'Tool 13.',
  effect: 'read',
  input: z.object({
    city: z.string().describe('Name of the city'),
    unit: z.enum(['C', 'F']).default('C'),
  }),
  execute: ({ city, unit }) => `${city.length} ${unit satisfies 'C' | 'F'}`,
});
const refund = defineTool({
  name: 'refund',
  description: 'Tool 14.',
  effect: 'idempotent',
  retries: 2,
  input: z.object({
    from: z.string(),
    to: z.string(),
    cents: z.number().int().positive(),
    memo: z.string().optional(),
  }),
  execute: ({ from, to, cents, memo }) => [from.trim(), to.trim(), cents.toFixed(2), memo?.trim()],
});
const lookup = defineTool({
  name: 'lookup',
  description: 'Tool 15.',
  timeout: 5_000,
  input: z.object({
    query: z.string().min(1),
    limit: z.number().int().max(100).optional(),
    tags: z.array(z.string()),
  }),
  execute: ({ query, limit, tags }) => tags.map((tag) => `${query}${tag.trim()}`).slice(0, limit),
});
const plan = defineTool({
  name: 'plan',
  description: 'Tool 16.',
  returnDirect: true,
  input: z.object({
    at: z.string().transform((text) => new Date(text)),
    repeat: z.union([z.literal('daily'), z.literal('weekly')]).nullable(),
  }),
  execute: ({ at, repeat }) => [at.getTime(), repeat?.length],
});
const invoice = defineTool({
  name: 'invoice',
  description: 'Tool 17.',
  effect: 'write',
  concurrencyKey: ({ order }) => order.id,
  input: z.object({
    order: z.object({
      id: z.string(),
      lines: z.array(z.object({ sku: z.string(), count: z.number() })),
    }),
  }),
  execute: ({ order }) => order.lines.reduce((sum, { count }) => sum + count, order.id.length),
});
const draw = defineTool({
  name: 'draw',
  description: 'Tool 18.',
  input: z.object({
    shape: z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('circle'), r: z.number() }),
      z.object({ kind: z.literal('box'), a: z.number(), b: z.number() }),
    ]),
  }),
  execute: ({ shape }) => (shape.kind === 'circle' ? shape.r ** 2 : shape.a * shape.b),
  toModelOutput: (value) => value,
});
const storm = defineTool({
  name: 'storm',
  description: 'Tool 19.',
  effect: 'read',
  input: z.object({
    city: z.string().describe('Name of the city'),
    unit: z.enum(['C', 'F']).default('C'),
  }),
  execute: ({ city, unit }) => `${city.length} ${unit satisfies 'C' | 'F'}`,
});
const charge = defineTool({
  name: 'charge',
  description: 'Tool 20.',
  effect: 'idempotent',
  retries: 2,
  input: z.object({
    from: z.string(),
    to: z.string(),
    cents: z.number().int().positive(),
    memo: z.string().optional(),
  }),
  execute: ({ from, to, cents, memo }) => [from.trim(), to.trim(), cents.toFixed(2), memo?.trim()],
});
const browse = defineTool({
  name: 'browse',
  description: 'Tool 21.',
  timeout: 5_000,
  input: z.object({
    query: z.string().min(1),
    limit: z.number().int().max(100).optional(),
    tags: z.array(z.string()),
  }),
  execute: ({ query, limit, tags }) => tags.map((tag) => `${query}${tag.trim()}`).slice(0, limit),
});
const book = defineTool({
  name: 'book',
  description: 'Tool 22.',
  returnDirect: true,
  input: z.object({
    at: z.string().transform((text) => new Date(text)),
    repeat: z.union([z.literal('daily'), z.literal('weekly')]).nullable(),
  }),
  execute: ({ at, repeat }) => [at.getTime(), repeat?.length],
});
const ship = defineTool({
  name: 'ship',
  description: 'Tool 23.',
  effect: 'write',
  concurrencyKey: ({ order }) => order.id,
  input: z.object({
    order: z.object({
      id: z.string(),
      lines: z.array(z.object({ sku: z.string(), count: z.number() })),
    }),
  }),
  execute: ({ order }) => order.lines.reduce((sum, { count }) => sum + count, order.id.length),
});
const outline = defineTool({
  name: 'outline',
  description: 'Tool 24.',
  input: z.object({
    shape: z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('circle'), r: z.number() }),
      z.object({ kind: z.literal('box'), a: z.number(), b: z.number() }),
    ]),
  }),
  execute: ({ shape }) => (shape.kind === 'circle' ? shape.r ** 2 : shape.a * shape.b),
  toModelOutput: (value) => value,
});
const wind = defineTool({
  name: 'wind',
  description: 'Tool 25.',
  effect: 'read',
  input: z.object({
    city: z.string().describe('Name of the city'),
    unit: z.enum(['C', 'F']).default('C'),
  }),
  execute: ({ city, unit }) => `${city.length} ${unit satisfies 'C' | 'F'}`,
});
const settle = defineTool({
  name: 'settle',
  description: 'Tool 26.',
  effect: 'idempotent',
  retries: 2,
  input: z.object({
    from: z.string(),
    to: z.string(),
    cents: z.number().int().positive(),
    memo: z.string().optional(),
  }),
  execute: ({ from, to, cents, memo }) => [from.trim(), to.trim(), cents.toFixed(2), memo?.trim()],
});
const scan = defineTool({
  name: 'scan',
  description: 'Tool 27.',
  timeout: 5_000,
  input: z.object({
    query: z.string().min(1),
    limit: z.number().int().max(100).optional(),
    tags: z.array(z.string()),
  }),
  execute: ({ query, limit, tags }) => tags.map((tag) => `${query}${tag.trim()}`).slice(0, limit),
});
const agenda = defineTool({
  name: 'agenda',
  description: 'Tool 28.',
  returnDirect: true,
  input: z.object({
    at: z.string().transform((text) => new Date(text)),
    repeat: z.union([z.literal('daily'), z.literal('weekly')]).nullable(),
  }),
  execute: ({ at, repeat }) => [at.getTime(), repeat?.length],
});
const pack = defineTool({
  name: 'pack',
  description: 'Tool 29.',
  effect: 'write',
  concurrencyKey: ({ order }) => order.id,
  input: z.object({
    order: z.object({
      id: z.string(),
      lines: z.array(z.object({ sku: z.string(), count: z.number() })),
    }),
  }),
  execute: ({ order }) => order.lines.reduce((sum, { count }) => sum + count, order.id.length),
});
const sketch = defineTool({
  name: 'sketch',
  description: 'Tool 30.',
  input: z.object({
    shape: z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('circle'), r: z.number() }),
      z.object({ kind: z.literal('box'), a: z.number(), b: z.number() }),
    ]),
  }),
  execute: ({ shape }) => (shape.kind === 'circle' ? shape.r ** 2 : shape.a * shape.b),
  toModelOutput: (value) => value,
});

const USER = new ContextKey<{ readonly name: string; readonly plan: 'free' | 'pro' }>('app.user', {
  name: '',
  plan: 'free',
});
const COUNT = new ContextKey<number>('app.count', 0);

const advisors = [
  defineAdvisor({
    name: 'advisor-1',
    order: 0,
    before: (request) => request.withContext(COUNT, request.context.get(COUNT) + 1),
  }),
  defineAdvisor({
    name: 'advisor-2',
    order: 1000,
    after: (response) => response.with({ metadata: { ...response.metadata, seen: true } }),
  }),
  defineAdvisor({
    name: 'advisor-3',
    order: 2000,
    onEvent: (event) => (event.type === 'tool-progress' ? [] : event),
  }),
  defineAdvisor({
    name: 'advisor-4',
    order: 3000,
    aroundTool: async ({ call, ...rest }, next) => ({
      ...(await next({ call, ...rest })),
      value: call.name.length,
    }),
  }),
  defineAdvisor({
    name: 'advisor-5',
    order: 4000,
    before: (request) =>
      request.context.get(USER).plan === 'pro' ? request : request.withOptions({ maxTokens: 100 }),
  }),
  defineAdvisor({
    name: 'advisor-6',
    order: 5000,
    before: (request) => request.withContext(COUNT, request.context.get(COUNT) + 1),
  }),
  defineAdvisor({
    name: 'advisor-7',
    order: 6000,
    after: (response) => response.with({ metadata: { ...response.metadata, seen: true } }),
  }),
  defineAdvisor({
    name: 'advisor-8',
    order: 7000,
    onEvent: (event) => (event.type === 'tool-progress' ? [] : event),
  }),
  defineAdvisor({
    name: 'advisor-9',
    order: 8000,
    aroundTool: async ({ call, ...rest }, next) => ({
      ...(await next({ call, ...rest })),
      value: call.name.length,
    }),
  }),
  defineAdvisor({
    name: 'advisor-10',
    order: 9000,
    before: (request) =>
      request.context.get(USER).plan === 'pro' ? request : request.withOptions({ maxTokens: 100 }),
  }),
];

export const application = (
  model: ChatModel,
): Promise<{ readonly total: number; readonly items: readonly string[] }> =>
  ChatClient.builder(model)
    .defaultTools(
      weather,
      transfer,
      search,
      remind,
      order,
      area,
      forecast,
      pay,
      find,
      schedule,
      restock,
      measure,
      climate,
      refund,
      lookup,
      plan,
      invoice,
      draw,
      storm,
      charge,
      browse,
      book,
      ship,
      outline,
      wind,
      settle,
      scan,
      agenda,
      pack,
      sketch,
    )
    .defaultAdvisors(...advisors, (spec) => toolCallingAutoRegister(true)(spec))
    .build()
    .prompt('Do it all.')
    .toolContext(USER, { name: 'Anna', plan: 'pro' })
    .advisors((spec) => spec.param(CONVERSATION_ID, 'anna-7'))
    .call()
    .entity(z.object({ total: z.number(), items: z.array(z.string()) }));
