/** Tool calling of four providers, as a review of their formats lists them: requests, answers, results, choice and streams. */
import { expect } from 'chai';
import { ChatClient, defineTool, type ChatModel, type ToolChoice } from '../../src/index.js';
import { CohereChatModel } from '../../src/models/cohere/index.js';
import { GoogleChatModel } from '../../src/models/google/index.js';
import { OpenAIChatModel } from '../../src/models/openai/index.js';
import type { Json } from '../support/cassettes.js';
import { MODES, runSpec, type Mode } from '../support/modes.js';
import { sendTypedEvents } from '../support/wire-answers.js';
import { chunk, sendEvents, sendJson, WireServer, type Exchange } from '../support/wire-server.js';

const HARBOUR = { type: 'string', description: 'Name of a harbour' };
const TIDE_INPUT = {
  type: 'object',
  properties: { harbour: HARBOUR, unit: { type: 'string', enum: ['m', 'ft'] } },
  required: ['harbour'],
};
const WAVE_INPUT = { type: 'object', properties: { harbour: HARBOUR }, required: ['harbour'] };

const TIDE = '{"harbour":"Brest","unit":"m"}';
const WAVE = '{"harbour":"Brest"}';
const [TIDE_ARGS, WAVE_ARGS] = [JSON.parse(TIDE) as object, JSON.parse(WAVE) as object];
const QUESTION = 'Can I sail in Brest?';
const TEXT = 'Sail at noon.';

/** A function as OpenAI, Mistral and Cohere describe it. */
const described = (name: string, description: string, parameters: object): object => ({
  type: 'function',
  function: { name, description, parameters },
});
const FUNCTIONS = [
  described('tide_level', 'Height of the tide.', TIDE_INPUT),
  described('wave_height', 'Height of the waves.', WAVE_INPUT),
];
/** A call as OpenAI, Mistral and Cohere write it: its arguments are JSON text. */
const called = (id: string, name: string, text: unknown): Json => ({
  id,
  type: 'function',
  function: { name, arguments: text },
});
const callsOf = (first: string, second: string): readonly Json[] => [
  called(first, 'tide_level', TIDE),
  called(second, 'wave_height', WAVE),
];
const toolMessages = (first: string, second: string): readonly Json[] => [
  { role: 'tool', tool_call_id: first, content: '{"metres":5}' },
  { role: 'tool', tool_call_id: second, content: 'calm' },
];
const choices = (message: Json, reason: string): Json => ({
  id: 'c',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: reason }],
});
const candidates = (parts: readonly Json[]): Json => ({
  candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }],
});

/** Requests that a provider expects, and its answers. */
interface Format {
  readonly model: (origin: string) => ChatModel;
  /** Paths of a call and of a stream. */
  readonly paths: Readonly<Record<Mode, string>>;
  /** The part of the body that offers the tools. */
  readonly offer: Json;
  /** The part of the body for each choice. */
  readonly choice: Readonly<Record<'none' | 'required' | 'named', Json>>;
  /** The answer that asks for both tools, as a document and as events. */
  readonly asks: Json;
  readonly events: readonly Json[];
  readonly answers: Json;
  readonly answerEvents: readonly Json[];
  /** The part of the second request that has the calls and their results. */
  readonly history: Json;
}

const VERTEX_PATH = '/v1/projects/p/locations/europe-west1/publishers/google';
const VERTEX_PARTS = [
  { functionCall: { name: 'tide_level', args: TIDE_ARGS } },
  { functionCall: { name: 'wave_height', args: WAVE_ARGS } },
];
const COMPLETIONS = { call: '/v1/chat/completions', stream: '/v1/chat/completions' };
const COMPLETIONS_CHOICE = {
  none: { tool_choice: 'none' },
  required: { tool_choice: 'required' },
  named: { tool_choice: { type: 'function', function: { name: 'wave_height' } } },
};
/** Sends what goes to a host to a server of the test. */
const redirect =
  (host: string, origin: string): typeof fetch =>
  (url, init) =>
    fetch((url as string).replace(host, origin), init);
const VERTEX = 'https://europe-west1-aiplatform.googleapis.com';
const MISTRAL = 'https://api.mistral.ai';
const completionsHistory = (first: string, second: string): Json => ({
  messages: [
    { role: 'user', content: QUESTION },
    { role: 'assistant', content: null, tool_calls: callsOf(first, second) },
    ...toolMessages(first, second),
  ],
});
const piece = (index: number, fields: Json): Json => chunk({ tool_calls: [{ index, ...fields }] });

const FORMATS: Readonly<Record<string, Format>> = {
  OpenAI: {
    model: (origin) =>
      new OpenAIChatModel({ model: 'm', apiKey: 'k', baseURL: `${origin}/v1`, maxRetries: 0 }),
    paths: COMPLETIONS,
    offer: { tools: FUNCTIONS },
    choice: COMPLETIONS_CHOICE,
    asks: choices({ content: null, tool_calls: callsOf('call_1', 'call_2') }, 'tool_calls'),
    events: [
      piece(0, called('call_1', 'tide_level', '')),
      piece(0, { function: { arguments: TIDE.slice(0, 9) } }),
      piece(0, { function: { arguments: TIDE.slice(9) } }),
      piece(1, called('call_2', 'wave_height', WAVE)),
      chunk({}, 'tool_calls'),
    ],
    answers: choices({ content: TEXT }, 'stop'),
    answerEvents: [chunk({ content: TEXT }), chunk({}, 'stop')],
    history: completionsHistory('call_1', 'call_2'),
  },
  // the same format; a stream has each call whole
  Mistral: {
    model: (origin) =>
      new OpenAIChatModel({
        model: 'm',
        apiKey: 'k',
        baseURL: `${MISTRAL}/v1`,
        fetch: redirect(MISTRAL, origin),
        maxRetries: 0,
      }),
    paths: COMPLETIONS,
    offer: { tools: FUNCTIONS },
    choice: COMPLETIONS_CHOICE,
    asks: choices({ content: '', tool_calls: callsOf('D681PevKs', 'a7gYtQ0xB') }, 'tool_calls'),
    events: [
      chunk(
        {
          tool_calls: callsOf('D681PevKs', 'a7gYtQ0xB').map((call, index) => ({ ...call, index })),
        },
        'tool_calls',
      ),
    ],
    answers: choices({ content: TEXT }, 'stop'),
    answerEvents: [chunk({ content: TEXT }, 'stop')],
    history: completionsHistory('D681PevKs', 'a7gYtQ0xB'),
  },
  // a plan before the calls, and no choice of a single tool
  Cohere: {
    model: (origin) =>
      new CohereChatModel({ model: 'm', apiKey: 'k', baseURL: origin, maxRetries: 0 }),
    paths: { call: '/v2/chat', stream: '/v2/chat' },
    offer: { tools: FUNCTIONS },
    choice: {
      none: { tool_choice: 'NONE' },
      required: { tool_choice: 'REQUIRED' },
      named: { tool_choice: 'REQUIRED', tools: FUNCTIONS.slice(1) },
    },
    asks: {
      id: 'c',
      finish_reason: 'TOOL_CALL',
      message: { role: 'assistant', tool_plan: 'I ask both.', tool_calls: callsOf('t_1', 't_2') },
    },
    events: [
      { type: 'message-start', id: 'c', delta: { message: { role: 'assistant' } } },
      { type: 'tool-plan-delta', delta: { message: { tool_plan: 'I ask both.' } } },
      ...callsOf('t_1', 't_2').flatMap((call, index) => [
        { type: 'tool-call-start', index, delta: { message: { tool_calls: call } } },
        { type: 'tool-call-end', index },
      ]),
      { type: 'message-end', delta: { finish_reason: 'TOOL_CALL' } },
    ],
    answers: {
      id: 'd',
      finish_reason: 'COMPLETE',
      message: { role: 'assistant', content: [{ type: 'text', text: TEXT }] },
    },
    answerEvents: [
      { type: 'message-start', id: 'd', delta: { message: { role: 'assistant' } } },
      { type: 'content-delta', index: 0, delta: { message: { content: { text: TEXT } } } },
      { type: 'message-end', delta: { finish_reason: 'COMPLETE' } },
    ],
    history: {
      messages: [
        { role: 'user', content: QUESTION },
        { role: 'assistant', tool_plan: 'I ask both.', tool_calls: callsOf('t_1', 't_2') },
        ...toolMessages('t_1', 't_2'),
      ],
    },
  },
  // arguments are objects, and calls may have no ids
  'Google Vertex': {
    model: (origin) =>
      new GoogleChatModel({
        model: 'gemini',
        apiKey: 'k',
        baseURL: VERTEX + VERTEX_PATH,
        fetch: redirect(VERTEX, origin),
        maxRetries: 0,
      }),
    paths: {
      call: `${VERTEX_PATH}/models/gemini:generateContent`,
      stream: `${VERTEX_PATH}/models/gemini:streamGenerateContent?alt=sse`,
    },
    offer: {
      tools: [
        {
          functionDeclarations: [
            {
              name: 'tide_level',
              description: 'Height of the tide.',
              parametersJsonSchema: TIDE_INPUT,
            },
            {
              name: 'wave_height',
              description: 'Height of the waves.',
              parametersJsonSchema: WAVE_INPUT,
            },
          ],
        },
      ],
    },
    choice: {
      none: { toolConfig: { functionCallingConfig: { mode: 'NONE' } } },
      required: { toolConfig: { functionCallingConfig: { mode: 'ANY' } } },
      named: {
        toolConfig: {
          functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['wave_height'] },
        },
      },
    },
    asks: candidates(VERTEX_PARTS),
    events: VERTEX_PARTS.map((part) => candidates([part])),
    answers: candidates([{ text: TEXT }]),
    answerEvents: [candidates([{ text: TEXT }])],
    history: {
      contents: [
        { role: 'user', parts: [{ text: QUESTION }] },
        { role: 'model', parts: VERTEX_PARTS },
        {
          role: 'user',
          parts: [
            { functionResponse: { name: 'tide_level', response: { output: '{"metres":5}' } } },
            { functionResponse: { name: 'wave_height', response: { output: 'calm' } } },
          ],
        },
      ],
    },
  },
};

/** Both tools, which record their arguments. */
function harbourTools(ran: unknown[] = []) {
  return [
    defineTool({
      name: 'tide_level',
      description: 'Height of the tide.',
      input: TIDE_INPUT,
      execute: (args) => {
        ran.push(args);
        return { metres: 5 };
      },
    }),
    defineTool({
      name: 'wave_height',
      description: 'Height of the waves.',
      input: WAVE_INPUT,
      execute: (args) => {
        ran.push(args);
        return 'calm';
      },
    }),
  ];
}

describe('source: tool calling of four providers', () => {
  let server: WireServer;
  let reply: (exchange: Exchange) => void;

  beforeEach(async () => {
    server = await WireServer.start((exchange) => reply(exchange));
  });
  afterEach(() => server.close());

  const clientOf = (format: Format): ChatClient =>
    ChatClient.create(format.model(new URL(server.baseURL).origin));

  function replyWith(format: Format, mode: Mode): void {
    reply = (exchange) => {
      const first = exchange.index === 0;
      if (mode === 'call') return sendJson(exchange, first ? format.asks : format.answers);
      const events = first ? format.events : format.answerEvents;
      if (exchange.path === '/v2/chat') sendTypedEvents(exchange, events as { type: string }[]);
      else sendEvents(exchange, exchange.path.includes('google') ? events : [...events, '[DONE]']);
    };
  }

  for (const [name, format] of Object.entries(FORMATS)) {
    for (const mode of MODES)
      it(`${name}, ${mode}: offers tools, runs two calls of one answer, returns their results`, async () => {
        replyWith(format, mode);
        const ran: unknown[] = [];

        const { text, steps } = await runSpec(
          mode,
          clientOf(format)
            .prompt(QUESTION)
            .tools(...harbourTools(ran)),
        );

        expect(text).to.equal(TEXT);
        expect(ran).to.deep.equal([TIDE_ARGS, WAVE_ARGS]);
        expect(steps[0]?.toolCalls.map(({ toolName }) => toolName)).to.deep.equal([
          'tide_level',
          'wave_height',
        ]);
        const [first, second] = server.exchanges;
        expect(first?.path).to.equal(format.paths[mode]);
        expect(first?.body).to.deep.include(format.offer);
        expect(second?.body).to.deep.include({ ...format.offer, ...format.history });
      });

    const forced: readonly (readonly [keyof Format['choice'], ToolChoice])[] = [
      ['none', 'none'],
      ['required', 'required'],
      ['named', { tool: 'wave_height' }],
    ];
    for (const [kind, toolChoice] of forced)
      it(`${name}: tool choice, ${kind}`, async () => {
        reply = (exchange) => sendJson(exchange, format.answers);

        await clientOf(format)
          .prompt(QUESTION)
          .tools(...harbourTools())
          .options({ toolChoice })
          .call()
          .content();

        expect(server.exchanges[0]?.body).to.deep.include(format.choice[kind]);
      });
  }

  for (const name of ['OpenAI', 'Mistral'])
    it(`${name}: forbids several calls in one answer`, async () => {
      const format = FORMATS[name] as Format;
      reply = (exchange) => sendJson(exchange, format.answers);

      await clientOf(format)
        .prompt(QUESTION)
        .tools(...harbourTools())
        .options({ parallelToolCalls: false })
        .call()
        .content();

      expect(server.exchanges[0]?.body).to.deep.include({ parallel_tool_calls: false });
    });

  const objects: Readonly<Record<string, Json>> = {
    Mistral: choices({ tool_calls: [called('c1', 'tide_level', TIDE_ARGS)] }, 'tool_calls'),
    Cohere: {
      finish_reason: 'TOOL_CALL',
      message: { role: 'assistant', tool_calls: [called('c1', 'tide_level', TIDE_ARGS)] },
    },
  };
  for (const [name, asks] of Object.entries(objects))
    it(`${name}: arguments that are an object where the format has text are read too`, async () => {
      const format = FORMATS[name] as Format;
      reply = (exchange) => sendJson(exchange, exchange.index === 0 ? asks : format.answers);
      const ran: unknown[] = [];

      await clientOf(format)
        .prompt(QUESTION)
        .tools(...harbourTools(ran))
        .call()
        .content();

      expect(ran).to.deep.equal([TIDE_ARGS]);
    });

  it('Mistral: continues with calls of another provider under ids that it accepts', async () => {
    const format = FORMATS['Mistral'] as Format;
    reply = (exchange) => sendJson(exchange, format.answers);

    await clientOf(format)
      .prompt()
      .messages(
        { role: 'user', content: QUESTION },
        {
          role: 'assistant',
          content: null,
          toolCalls: [{ id: 'call_of_another', name: 'wave_height', arguments: WAVE }],
        },
        { role: 'tool', toolCallId: 'call_of_another', toolName: 'wave_height', content: 'calm' },
      )
      .tools(...harbourTools())
      .call()
      .content();

    const [, asked, result] = (server.exchanges[0]?.body['messages'] ?? []) as readonly Json[];
    const id = result?.['tool_call_id'];
    expect(id).to.match(/^[A-Za-z0-9]{9}$/);
    expect(asked).to.have.nested.property('tool_calls[0].id', id);
  });

  it('Google Vertex: a failed call is returned as an error', async () => {
    const format = FORMATS['Google Vertex'] as Format;
    const bad = candidates([{ functionCall: { name: 'tide_level', args: { unit: 'miles' } } }]);
    reply = (exchange) => sendJson(exchange, exchange.index === 0 ? bad : format.answers);

    await clientOf(format)
      .prompt(QUESTION)
      .tools(...harbourTools())
      .call()
      .content();

    const [, second] = server.exchanges;
    expect(second?.body)
      .to.have.nested.property('contents[2].parts[0].functionResponse.response.error')
      .that.includes('harbour');
  });
});
