// Checked by the compiler alone: what must compile, and what must not.
import type { Observable } from 'rxjs';
import { z } from 'zod';
import { z as z3 } from 'zod3';
import {
  ChatClient,
  ContextKey,
  CONVERSATION_ID,
  defineAdvisor,
  defineTool,
  type ChatClientResponse,
  type ChatEvent,
  type ChatModel,
  type ChatOptions,
  type ChatResponse,
  type Message,
  type PendingRequest,
  type PendingTurn,
  type PromptSpec,
} from '../../src/index.js';

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Fails to compile unless the value has exactly the type. */
declare function isExactly<Expected>(): <Actual>(value: Actual) => Equal<Expected, Actual>;
declare const model: ChatModel;

const client = ChatClient.create(model);
const spec = client.prompt('hi');
isExactly<PromptSpec<never>>()(spec) satisfies true;

// results
isExactly<Promise<string | null>>()(spec.call().content()) satisfies true;
isExactly<Promise<ChatResponse>>()(spec.call().chatResponse()) satisfies true;
spec.stream().content() satisfies Observable<string>;
spec.stream().events() satisfies Observable<ChatEvent>;
for await (const text of spec.stream().content()) isExactly<string>()(text) satisfies true;
for await (const event of spec.stream().events()) isExactly<ChatEvent>()(event) satisfies true;
for await (const answer of spec.stream().chatResponse())
  isExactly<ChatResponse>()(answer) satisfies true;
(await spec.stream().finalResponse()) satisfies ChatClientResponse;
spec.stream({ separator: ' ', onRetract: ({ text }) => `(not: ${text})` });
// @ts-expect-error an unknown way
spec.stream({ onRetract: 'erase' });
isExactly<ReadableStream<string>>()(spec.stream().toReadableStream()) satisfies true;
for await (const text of spec.stream()) isExactly<string>()(text) satisfies true;

// entities have the type that comes out of the schema, not the one that goes in
const City = z.object({ name: z.string(), population: z.string().transform(Number).default(0) });
isExactly<{ name: string; population: number }>()(await spec.call().entity(City)) satisfies true;
isExactly<{ a?: string | undefined }>()(
  await spec.call().entity(z3.object({ a: z3.string().optional() })),
) satisfies true;
isExactly<Readonly<Record<string, unknown>>>()(
  await spec.call().entity({ type: 'object' }),
) satisfies true;
isExactly<{ name: string; population: number }>()(
  (await spec.call().responseEntity(City)).entity,
) satisfies true;
isExactly<Readonly<Record<string, unknown>>>()(
  await spec.call().entity('{"type":"object"}'),
) satisfies true;
isExactly<{ when: Date }>()(
  await spec.call().entity(z.object({ when: z.coerce.date() })),
) satisfies true;
isExactly<{ name: string; population: number }>()(await spec.stream().entity(City)) satisfies true;
for await (const part of spec.stream().partialEntity(z.object({ list: z.array(City) }))) {
  isExactly<number | undefined>()(part.list?.length) satisfies true;
  isExactly<string | undefined>()(part.list?.[0]?.name) satisfies true;
}
// @ts-expect-error a schema is not a number
void spec.call().entity(7);

// setters
spec.system('S', { a: 1 }).system((s) => s.text('S').param('a', 1).metadata({ b: 2 }));
spec.user('U').user((u) => u.text('U').image({ url: 'x' }).file({ url: 'x', name: 'n' }));
spec.user([
  { type: 'text', text: 'x' },
  { type: 'raw', value: {} },
]);
// @ts-expect-error a system text has no media
spec.system((s) => s.image({ url: 'x' }));
// @ts-expect-error the function must return the spec
spec.user(() => undefined);
// @ts-expect-error an unknown part
spec.user([{ type: 'video', url: 'x' }]);
// @ts-expect-error an unknown option
spec.options({ temprature: 0 });
// @ts-expect-error an option of the wrong type
spec.options({ temperature: '0' });
spec.options({
  temperature: undefined,
  toolChoice: { tool: 'a' },
  responseFormat: { schema: {} },
} satisfies ChatOptions);
// @ts-expect-error a message needs what belongs to its role
spec.messages({ role: 'user', text: 'x' });
spec.messages({ role: 'assistant', content: null }, ...([] as readonly Message[]));

const tool = defineTool({
  name: 't',
  input: z.object({ a: z.number() }),
  execute: ({ a }) => isExactly<number>()(a) satisfies true,
});
spec.tools(tool, [tool, [tool]] as const);
// @ts-expect-error a record of tools
spec.tools({ tool });
// @ts-expect-error a record of tools
spec.mutate().defaultTools(tool, { tool });
// @ts-expect-error a definition alone cannot run
spec.tools({ definition: tool.definition });

// advisors and their params
const TENANT = new ContextKey<string>('types.tenant', 'none');
const NOTE = new ContextKey<{ readonly text: string } | undefined>('types.note');
spec.advisors((a) =>
  a.param(CONVERSATION_ID, 'anna-7').param(TENANT, 'acme').param(NOTE, { text: 'x' }),
);
// @ts-expect-error a value of another type
spec.advisors((a) => a.param(TENANT, 7));
// @ts-expect-error a value that may be missing
spec.advisors((a) => a.param(CONVERSATION_ID, undefined as string | undefined));
// @ts-expect-error a key is not a text
spec.advisors((a) => a.param('tenant', 'acme'));
// @ts-expect-error a key needs a default, unless its value may be undefined
void new ContextKey<string>('types.none');
defineAdvisor({
  name: 'a',
  order: 0,
  before: ({ context }) => void (isExactly<string>()(context.get(TENANT)) satisfies true),
});

// decisions of a resumed turn
client.resume('id', { request: { type: 'allow', by: 'anna' } });
client.resume('id', (request) => {
  isExactly<PendingRequest>()(request) satisfies true;
  return request.type === 'question' ? undefined : { type: 'deny', reason: 'Not today.' };
});
client.resume('id', async ({ id }) => (id === 'request' ? { type: 'allow' } : undefined));
// @ts-expect-error no decision
client.resume('id', () => ({ type: 'yes' }));
// @ts-expect-error no decision
client.resume('id', () => true);
// @ts-expect-error a record by the ids of requests
client.resume('id', [{ type: 'allow' }]);
(await client.pending({ id: 'id' })) satisfies readonly PendingTurn[];
// @ts-expect-error no id
await client.pending({ conversationId: 'anna-7' });

// messages and responses cannot be changed
declare const response: ChatResponse;
// @ts-expect-error readonly
response.id = 'x';
// @ts-expect-error readonly
response.message.toolCalls.push({ id: 'a', name: 'f', arguments: '{}' });
