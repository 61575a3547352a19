import { expect } from 'chai';
import { Observable } from 'rxjs';
import {
  ChatClient,
  ChatResponse,
  CONVERSATION_ID,
  defineAdvisor,
  defineTool,
  MessageChatMemoryAdvisor,
  toolResult,
} from '../../../src/index.js';
import type {
  AdvisorFunctions,
  ChatClientResponse,
  ChatEvent,
  ChatMemory,
  ChatModel,
  Message,
  Prompt,
  Tool,
} from '../../../src/index.js';
import { MODES, runSpec, type Mode } from '../../support/modes.js';
import { vandalise } from '../../support/vandal.js';

/** Places of an application where it receives data of the library, or gives its own. */
interface Places extends Pick<AdvisorFunctions, 'before' | 'after' | 'onEvent' | 'aroundTool'> {
  readonly model?: (prompt: Prompt) => void;
  readonly answer?: (response: ChatResponse) => void;
  readonly tool?: (value: unknown) => void;
  readonly result?: (value: unknown) => void;
  readonly stored?: (messages: readonly Message[]) => void;
  readonly loaded?: (messages: readonly Message[]) => void;
  readonly inner?: (value: unknown) => void;
}

/** Requests, memory, events and reports of a run, as JSON. */
interface Outcome {
  readonly sent: readonly unknown[];
  readonly memory: readonly unknown[];
  readonly events: readonly unknown[];
  readonly reports: readonly unknown[];
}

const copyOf = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null)) as unknown;

const ANSWERS = [
  {
    content: 'I look.',
    metadata: { thought: ['signed'] },
    toolCalls: [
      { id: 'c1', name: 'look', arguments: '{"at":{"list":[1]}}', metadata: { signature: ['s'] } },
    ],
  },
  { content: 'Done.', metadata: { citations: [{ url: 'u' }] } },
];

/** A model that keeps its responses and its prompts. */
function modelOf(places: Places, sent: unknown[], live: Message[][]): ChatModel {
  const answer = (prompt: Prompt): ChatResponse => {
    sent.push(copyOf(prompt));
    places.model?.(prompt);
    places.loaded?.(live.splice(0).flat());
    const [message] = copyOf([ANSWERS[(sent.length - 1) % 2]]) as [(typeof ANSWERS)[number]];
    const generations = [{ message: { role: 'assistant' as const, ...message } }];
    const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
    const fields = { generations, usage, metadata: { logprobs: [1] } };
    const response = new ChatResponse(fields);
    setImmediate(() => {
      places.answer?.(response);
      if (places.answer) vandalise(fields);
    });
    return response;
  };
  return {
    defaultOptions: {},
    call: async (prompt) => answer(prompt),
    stream: (prompt) =>
      new Observable<ChatEvent>((subscriber) => {
        const response = answer(prompt);
        if (response.text) subscriber.next({ type: 'text-delta', text: response.text });
        subscriber.next({ type: 'response', response } as ChatEvent);
        subscriber.complete();
      }),
  };
}

/** A memory that shares its list with everyone. */
function memoryOf(places: Places, kept: Message[], live: Message[][]): ChatMemory {
  return {
    capabilities: { durable: false, transactional: true, storesToolMessages: true },
    add: async (_, added) => {
      const list = added as readonly Message[];
      kept.push(...(copyOf(list) as Message[]));
      places.stored?.(list);
      return 1;
    },
    get: async () => [],
    load: async () => {
      const messages: Message[] = [{ role: 'user', content: 'before', metadata: { list: [1] } }];
      live.push(messages);
      return { messages, version: 0 };
    },
    clear: async () => undefined,
  };
}

function toolOf(places: Places): Tool {
  return defineTool({
    name: 'look',
    input: {
      type: 'object',
      properties: { at: { type: 'object', properties: { list: { type: 'array' } } } },
    },
    execute: async (args, context) => {
      const seen = JSON.stringify([args, context.call]);
      places.tool?.(args);
      places.tool?.(context.call);
      places.tool?.(context.values);
      const parts = [{ type: 'text' as const, text: seen }];
      const result = toolResult({ content: parts, value: seen, unlocks: ['x'] });
      setImmediate(() => places.result?.([parts, result]));
      return result;
    },
  });
}

function advisorOf(places: Places, name: string, order: number) {
  const { before, after, onEvent, aroundTool } = places;
  return defineAdvisor({
    name,
    order,
    before: (request) => before?.(request),
    after: (response, request) => after?.(response, request),
    onEvent: (event, request) => onEvent?.(event, request),
    aroundTool: (call, next) => (aroundTool ? aroundTool(call, next) : next(call)),
  });
}

/** Two turns of one spec, whose outcome must be the same whatever the places do. */
async function outcomeOf(mode: Mode, places: Places): Promise<Outcome> {
  const sent: unknown[] = [];
  const memory: Message[] = [];
  const events: unknown[] = [];
  const live: Message[][] = [];
  const reports: unknown[] = [];
  const watch = defineAdvisor({
    name: 'watch',
    order: -1,
    onEvent: (event) => void events.push(withoutTimes(copyOf({ ...event, context: undefined }))),
    aroundTool: async (call, next) => {
      await next(call);
      return next(call); // like a retry
    },
  });
  const client = ChatClient.builder(modelOf(places, sent, live))
    .defaultSystem('S {x}', { x: 'y' })
    .defaultTools(toolOf(places))
    .defaultToolContext({ t: 1 })
    .defaultAdvisors((a) => a.param(CONVERSATION_ID, 'c'))
    .defaultAdvisors(
      new MessageChatMemoryAdvisor({
        chatMemory: memoryOf(places, memory, live),
        storeToolMessages: true,
      }),
    )
    .defaultAdvisors(watch, advisorOf(places, 'outer', 0), advisorOf(places, 'inner', 9_000))
    .build();
  const spec = client
    .prompt()
    .options({ stopSequences: ['.'], extraBody: { deep: [1] }, metadata: { m: '1' } })
    .messages({ role: 'user', content: 'earlier', metadata: { list: [1] } })
    .user((u) =>
      u
        .text('U')
        .image({ url: 'https://example.org/a.png' })
        .metadata({ list: [1] }),
    );
  for (let turn = 0; turn < 2; turn++) {
    const response = await runSpec(mode, spec);
    reports.push(reportOf(response));
    places.inner?.(response);
    await new Promise((resolve) => setImmediate(resolve));
    reports.push(reportOf(response));
  }
  return { sent, memory, events, reports };
}

function reportOf({ chatResponse, transcript, steps, ledger, run }: ChatClientResponse): unknown {
  const stored = run?.stored;
  return withoutTimes(copyOf({ chatResponse, transcript, steps, ledger, stored }));
}

function withoutTimes(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (key, inner: unknown) => (key === 'duration' ? 0 : inner)),
  );
}

const vandaliseResponse = (response: ChatResponse): void => {
  const { generations, usage, metadata } = response;
  vandalise({ generations, usage, metadata });
  for (const name of ['generations', 'usage', 'metadata'] as const)
    try {
      Object.assign(response, { [name]: [] });
    } catch (error) {
      expect(error).to.be.instanceOf(TypeError);
    }
};

const vandaliseReport = ({ steps, ledger, transcript }: ChatClientResponse): void =>
  vandalise([steps, ledger, transcript]);

const WRITERS: Readonly<Record<string, Places>> = {
  'an advisor writes to the request': {
    before: ({ prompt, tools, toolContext, unlocked }) => {
      vandalise([prompt.messages, prompt.options, toolContext, unlocked]);
      vandalise(tools);
      for (const { definition, metadata } of tools) vandalise([definition, metadata]);
    },
  },
  'an advisor writes to the response': { after: (response) => vandaliseResponse(response) },
  'an advisor writes to the steps of the response': {
    after: (response) => vandaliseReport(response),
  },
  'an advisor writes to the events': {
    onEvent: (event) => {
      if (event.type === 'response' || event.type === 'iteration')
        vandaliseResponse(event.response);
      if ('call' in event) vandalise(event.call);
      if (event.type === 'tool-result') vandalise(event.result);
    },
  },
  'an advisor writes to a tool call': {
    aroundTool: async (invocation, next) => {
      vandalise(invocation.call);
      const result = await next(invocation);
      vandalise(invocation);
      vandalise(result);
      return result;
    },
  },
  'the model writes to its prompt': {
    model: ({ messages, options }) => vandalise([messages, options]),
  },
  'the model writes to its response later': { answer: vandaliseResponse },
  'the tool writes to its arguments and its call': { tool: vandalise },
  'the tool writes to its result later': { result: vandalise },
  'the memory writes to the messages that it stores': { stored: vandalise },
  'the memory writes to its list later': { loaded: (messages) => vandalise(messages.slice()) },
  'the application writes to the answer': {
    inner: (response) => {
      vandaliseResponse(response as ChatClientResponse);
      vandaliseReport(response as ChatClientResponse);
    },
  },
};

describe('Ownership', () => {
  for (const mode of MODES) {
    const undisturbed = outcomeOf(mode, {});
    for (const [what, places] of Object.entries(WRITERS))
      it(`[D55] [F76] requests, transcript, memory and events stay the same if ${what} (${mode})`, async () => {
        const expected = await undisturbed;

        const outcome = await outcomeOf(mode, places);

        expect(outcome.sent).to.deep.equal(expected.sent);
        expect(outcome.memory).to.deep.equal(expected.memory);
        expect(outcome.events).to.deep.equal(expected.events);
        expect(outcome.reports).to.deep.equal(expected.reports);
      });
  }
});
