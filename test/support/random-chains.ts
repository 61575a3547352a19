import { callsOf, textOf } from '../../src/core/chat/message.js';
import { expect } from 'chai';
import fc, { type Arbitrary } from 'fast-check';
import { catchError, defer, retry } from 'rxjs';
import type { RunRecord } from '../../src/core/chat/run-record.js';
import { repairHistory, trimToolResults } from '../../src/stores/chat-memory/history.js';
import {
  AdvisorOrder,
  ChatClient,
  ChatResponse,
  CONVERSATION_ID,
  defineAdvisor,
  defineTool,
  InMemoryChatMemoryRepository,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  ObservabilityAdvisor,
  type Advisor,
  type Message,
} from '../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../src/testing/index.js';
import type { Inspector } from '../../src/bridges/inspector/index.js';
import { anyInspection, inspectorOf, problemsOfInspection } from './inspector-laws.js';
import { recordSpans, type Recording } from './recorded-spans.js';
import type { Mode } from './modes.js';
import { fuzz } from './fuzz.js';

/** A script of the model, and the advisors of a chain with their positions. */
export interface Scene {
  readonly answers: readonly ScriptedAnswer[];
  readonly kinds: readonly { readonly kind: Kind; readonly inside: boolean }[];
  readonly memoryInside: boolean;
  readonly storeToolMessages: boolean;
}

const INSPECTOR_SPAN = 'advisor inspector';

type Make = (name: string, order: number) => Advisor;

const extra = defineTool({ name: 'extra', execute: () => 'from the extra tool' });
const other = (): ScriptedChatModel =>
  new ScriptedChatModel(() => ({ text: 'the other model', model: 'other', usage: USAGE }), {
    model: 'other',
  });
const USAGE = { inputTokens: 3, outputTokens: 2, totalTokens: 5 };
const isBad = (response: ChatResponse): boolean => response.text?.includes('bad') === true;

const blockBad = (response: ChatResponse): ChatResponse | undefined =>
  isBad(response) && !response.hasToolCalls() ? ChatResponse.ofText('blocked') : undefined;

/** Advisors as applications write them, with operators and with async functions. */
const KINDS = {
  'retry operator': (name, order) => ({
    name,
    order,
    advise: (request, chain) => chain.next(request).pipe(retry(2)),
  }),
  'retry in around': (name, order) => ({
    name,
    order,
    around: async (request, next) => {
      try {
        return await next(request);
      } catch {
        return await next(request);
      }
    },
  }),
  'fallback operator': (name, order) => ({
    name,
    order,
    advise: (request, chain) =>
      chain.next(request).pipe(catchError(() => chain.next(request.withModel(other())))),
  }),
  'fallback in around': (name, order) => ({
    name,
    order,
    around: async (request, next) => {
      try {
        return await next(request);
      } catch {
        return await next(request.withModel(other()));
      }
    },
  }),
  'own answer after an error': (name, order) => ({
    name,
    order,
    around: (request, next) => next(request).catch(() => ChatResponse.ofText('Sorry.')),
  }),
  'asks again': (name, order) => ({
    name,
    order,
    around: async (request, next) => {
      const response = await next(request);
      return isBad(response) ? next(request.withOptions({ seed: 1 })) : response;
    },
  }),
  guard: (name, order) => defineAdvisor({ name, order, holdDeltas: true, after: blockBad }),
  'guard without holding': (name, order) => defineAdvisor({ name, order, after: blockBad }),
  'adds to the transcript': (name, order) =>
    defineAdvisor({
      name,
      order,
      before: (request) =>
        request.iteration === 0
          ? request
          : request.withTranscript((messages) =>
              messages.at(-1)?.role === 'tool'
                ? [...messages, { role: 'user', content: `note ${request.iteration} of ${name}` }]
                : messages,
            ),
    }),
  'shortens the transcript': (name, order) =>
    defineAdvisor({
      name,
      order,
      before: (request) =>
        request.withTranscript(trimToolResults({ keepLast: 1, minCharacters: 1 })),
    }),
  'shortens the view': (name, order) =>
    defineAdvisor({
      name,
      order,
      before: (request) =>
        request.withMessages(
          trimToolResults({ keepLast: 1, minCharacters: 1 })(request.prompt.messages),
        ),
    }),
  'adds a tool': (name, order) =>
    defineAdvisor({
      name,
      order,
      before: (request) =>
        request.tools.includes(extra) ? request : request.withTools([...request.tools, extra]),
    }),
  'answers itself': (name, order) => ({
    name,
    order,
    around: (request, next) =>
      request.iteration === 1 ? ChatResponse.ofText('from the cache') : next(request),
  }),
  'deferred subscription': (name, order) => ({
    name,
    order,
    advise: (request, chain) => defer(() => chain.next(request)),
  }),
  events: (name, order) =>
    defineAdvisor({
      name,
      order,
      onEvent: (event) => (event.type === 'iteration' ? [event] : undefined),
    }),
} as const satisfies Record<string, Make>;

type Kind = keyof typeof KINDS;

const call = fc.record({
  name: fc.constantFrom('echo', 'extra', 'unknown'),
  arguments: fc.constantFrom({}, { text: 'long result '.repeat(4) }),
});
const usage = fc.constantFrom(USAGE, undefined);
const text = fc.constantFrom('Hello there.', 'A bad word.', 'Well', '');
const answer: Arbitrary<ScriptedAnswer> = fc
  .oneof(
    { weight: 3, arbitrary: fc.record({ text, usage }) },
    {
      weight: 3,
      arbitrary: fc.record({
        text,
        usage,
        toolCalls: fc.array(call, { minLength: 1, maxLength: 3 }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ text, error: fc.constant('failed') }) },
  )
  .map((parts) => {
    const error =
      'error' in parts
        ? Object.assign(new Error('the server broke'), { stack: 'Error: the server broke' })
        : undefined;
    const { usage: given, ...rest } = { usage: undefined, ...parts };
    return { ...rest, ...(given && { usage: given }), ...(error && { error }) };
  });

export const anyScene: Arbitrary<Scene> = fc.record({
  answers: fc.array(answer, { minLength: 1, maxLength: 6 }),
  kinds: fc.array(
    fc.record({
      kind: fc.constantFrom(...(Object.keys(KINDS) as Kind[])),
      inside: fc.boolean(),
    }),
    { maxLength: 4 },
  ),
  memoryInside: fc.boolean(),
  storeToolMessages: fc.boolean(),
});

/** Everything of a turn that must not depend on the mode. */
export interface TurnOutcome {
  readonly outcome: unknown;
  readonly transcript: unknown;
  readonly ledger: unknown;
  readonly steps: unknown;
  readonly memory: unknown;
  readonly prompts: unknown;
  readonly spans: readonly string[];
  /** Tokens of all answers in the ledger, and those that the answer reports, unless it failed. */
  readonly charged: number;
  readonly reported: number | undefined;
}

/** The chain of a scene, with what a test reads of its turn. */
export function chainOf(scene: Scene, ...others: readonly Advisor[]) {
  const model = new ScriptedChatModel((_, index) => scene.answers[index] ?? 'The end.');
  const repository = new InMemoryChatMemoryRepository();
  const recording = recordSpans();
  let record: RunRecord | undefined;
  const echo = defineTool({
    name: 'echo',
    input: { type: 'object', properties: { text: { type: 'string' } } },
    execute: (args) => args,
  });
  const first = defineAdvisor({
    name: 'first',
    order: 0,
    before: (request) => void (record = request.run),
  });
  const memory = new MessageChatMemoryAdvisor({
    chatMemory: new MessageWindowChatMemory({ repository }),
    storeToolMessages: scene.storeToolMessages && !scene.memoryInside,
    ...(scene.memoryInside && { order: AdvisorOrder.TOOL_CALLING + 1 }),
  });
  const random = scene.kinds.map(({ kind, inside }, at) =>
    KINDS[kind](
      `${kind} ${at}`,
      (inside ? AdvisorOrder.TOOL_CALLING : AdvisorOrder.MEMORY) + 2 + at,
    ),
  );
  const spec = ChatClient.create(model)
    .prompt('Go.')
    .system('Be brief.')
    .tools(echo)
    .advisors(
      first,
      new ObservabilityAdvisor({ tracer: recording.tracer }),
      memory,
      ...random,
      ...others,
    )
    .advisors((a) => a.param(CONVERSATION_ID, 'c'));
  return { spec, model, repository, recording, recordOf: () => record };
}

/** True if a guard of the scene holds the text before tool calls back. */
export const holdsText = ({ kinds }: Scene): boolean =>
  kinds.some(({ kind, inside }) => kind === 'guard' && !inside);

/** Runs the turn of a scene, and fails if a stream does not add up to its answer. */
export async function play(
  scene: Scene,
  mode: Mode,
  ...others: readonly Advisor[]
): Promise<TurnOutcome> {
  const { spec, model, repository, recording, recordOf } = chainOf(scene, ...others);
  const outcome =
    mode === 'call'
      ? await spec.call().chatResponse().then(comparableResponse, comparableError)
      : await playStream(spec.stream().events(), holdsText(scene));
  const stored = await repository.read('c');
  const record = recordOf();
  if (!record) throw new Error('the run did not begin');
  return {
    outcome,
    transcript: comparable(record.transcript),
    ledger: comparable(record.ledger),
    steps: record.steps.map(({ index, response, toolCalls }) => {
      const calls = toolCalls.map((each) => ({ ...each, duration: undefined }));
      return comparable({ index, response: comparableResponse(response), calls });
    }),
    memory: comparable(stored.messages.map(({ message }) => message)),
    prompts: comparable(model.prompts.map(({ messages }) => messages)),
    spans: spansOf(recording),
    charged: record.ledger.reduce((sum, { usage }) => sum + (usage?.totalTokens ?? 0), 0),
    reported: reportedBy(outcome),
  };
}

/** @param held true if a guard of the turn holds the text before tool calls back */
function playStream(
  events: ReturnType<ReturnType<ChatSpec['stream']>['events']>,
  held: boolean,
): Promise<unknown> {
  let shown = '';
  return new Promise((resolve, reject) => {
    events.subscribe({
      next: (event) => {
        if (event.type === 'text-delta') shown += event.text;
        else if (event.type === 'retract') shown = '';
        else if (event.type === 'iteration' || event.type === 'response') {
          try {
            const isHeld = held && event.type === 'iteration';
            const text = isHeld ? '' : (event.response.text ?? '');
            expect(shown, `deltas of ${event.type}`).to.equal(text);
          } catch (error) {
            reject(error as Error);
          }
          shown = '';
          if (event.type === 'response') resolve(comparableResponse(event.response));
        }
      },
      error: (error: unknown) => resolve(comparableError(error)),
      complete: () => reject(new Error('the stream ended without a response')),
    });
  });
}

type ChatSpec = ReturnType<ReturnType<typeof ChatClient.create>['prompt']>;

const isEmpty = (message: Message): boolean =>
  message.role === 'assistant' && message.content === '' && callsOf(message).length === 0;

const comparableResponse = ({ message, finishReason, usage }: ChatResponse): unknown =>
  comparable({ message, finishReason, usage });
const reportedBy = (outcome: unknown): number | undefined => {
  const { error, usage } = outcome as { error?: string; usage?: { totalTokens: number } | null };
  return error === undefined ? (usage?.totalTokens ?? 0) : undefined;
};
const comparableError = (error: unknown): unknown => ({ error: String(error) });

const comparable = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value ?? null)) as unknown;

/** The spans as paths of names with their status, without what only streams and inspectors have. */
function spansOf({ spans, problems }: Recording): readonly string[] {
  const byId = new Map(spans.map((span) => [span.spanContext().spanId, span]));
  const pathOf = (span: (typeof spans)[number]): string => {
    const parent = byId.get(span.parentSpanContext?.spanId ?? '');
    const own = span.name === INSPECTOR_SPAN ? '' : `/${span.name}`;
    return `${parent ? pathOf(parent) : ''}${own}`;
  };
  const shown = spans.filter(({ name }) => name !== INSPECTOR_SPAN);
  const lines = shown.map((span) => {
    const tokens = ['input', 'output'].map(
      (each) => span.attributes[`gen_ai.usage.${each}_tokens`],
    );
    return `${pathOf(span)} ${span.status.code} ${tokens.join('+')}`;
  });
  return [...problems, ...lines.sort()];
}

/** Expects that each change of a message is by the advisor that makes such ones; a memory repeats them. */
function expectAuthors(inspector: Inspector): void {
  const turns = inspector.turns().flatMap(({ id }) => inspector.turn(id) ?? []);
  const steps = turns.flatMap(({ requests }) => requests.flatMap((request) => request.steps));
  for (const { advisor, changes } of steps)
    for (const change of changes) {
      if (change.type !== 'message-added' && change.type !== 'message-changed') continue;
      const message = change.type === 'message-added' ? change.message : change.after;
      const text = textOf(message);
      const [, author] = /^note \d+ of (.*)/.exec(text) ?? [];
      const isShort = message.role === 'tool' && text.startsWith('[An old result');
      if (author !== undefined) expect([author, 'chat-memory']).to.include(advisor);
      else if (isShort) expect(advisor).to.match(/^(shortens|chat-memory)/);
      else expect(advisor).to.match(/^(tool-calling|chat-memory)$/);
    }
}

/** Plays random scripts with random chains by call and by stream, and compares all they leave. */
export function describeRandomChains({ scenes }: { readonly scenes: number }): void {
  describe('random chains', function () {
    this.timeout(120_000);

    it(`[F40] [F62] have the same transcript, response, ledger, memory and spans in call and stream, and with an inspector (${scenes} scripts)`, async () => {
      const isCalled = fc.boolean();
      const property = fc.asyncProperty(
        anyScene,
        anyInspection,
        isCalled,
        async (scene, inspection, inspectsCall) => {
          const inspector = inspectorOf(inspection);
          const inspectors = inspector ? [inspector] : [];
          const [called, streamed] = inspectsCall
            ? [await play(scene, 'call', ...inspectors), await play(scene, 'stream')]
            : [await play(scene, 'call'), await play(scene, 'stream', ...inspectors)];
          expect(streamed).to.deep.equal(called);
          expect(await problemsOfInspection(inspector, inspection)).to.deep.equal([]);
          if (inspector && inspection?.isRead) expectAuthors(inspector);
          if (called.reported === undefined) return; // a call of a failed turn may have no result
          expect(called.reported, 'usage of the answer').to.equal(called.charged);
          // inside the loop, memory keeps iterations of a turn that was tried again, and repairs them
          if (scene.memoryInside) return;
          const { memory, transcript } = called;
          for (const all of [memory, transcript] as readonly (readonly Message[])[]) {
            const messages = all.filter((message) => !isEmpty(message));
            expect(repairHistory(messages), 'a valid history').to.equal(messages);
          }
        },
      );

      await fc.assert(property, { ...fuzz('random-chains', 0), numRuns: scenes });
    });
  });
}
