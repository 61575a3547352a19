import { expect } from 'chai';
import {
  AdvisorOrder,
  ChatClient,
  decodeMessage,
  defineAdvisor,
  defineTool,
  encodeMessage,
  type ContentPart,
  type Message,
} from '../../src/index.js';
import { loadCassettes, type Json } from '../support/cassettes.js';
import { CALL, CHAT_WIRES } from '../support/chat-wires.js';
import { sendJson, WireServer } from '../support/wire-server.js';

/** The order in which the conversation moves from model to model; it comes back to the first ones. */
const ROUTE = [
  'responses',
  'messages',
  'generateContent',
  'ollama.chat',
  'cohere.chat.v2',
  'chat.completions',
  'responses',
  'messages',
  'generateContent',
] as const;

const signature = (api: string): string => `SIGNATURE${api.replaceAll('.', '')}=`;
const IMAGE: readonly ContentPart[] = [
  { type: 'text', text: 'question 0' },
  { type: 'image', data: 'AQIDBA==', mediaType: 'image/png' },
];
const INPUT = JSON.stringify(CALL.arguments);

/** Answers of each API: one that thinks and asks for a tool, in the turn with this number. */
const CALLS: Readonly<Record<string, (turn: number) => unknown>> = {
  responses: (turn) => ({
    object: 'response',
    status: 'completed',
    output: [
      {
        type: 'reasoning',
        id: `rs_${turn}`,
        summary: [{ type: 'summary_text', text: `thought ${turn}` }],
        encrypted_content: signature('responses'),
      },
      {
        type: 'function_call',
        id: `fc_${turn}`,
        call_id: `call_${turn}`,
        name: CALL.name,
        arguments: INPUT,
      },
    ],
  }),
  messages: (turn) => ({
    type: 'message',
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: `thought ${turn}`, signature: signature('messages') },
      { type: 'tool_use', id: `toolu_${turn}`, name: CALL.name, input: CALL.arguments },
    ],
    stop_reason: 'tool_use',
  }),
  generateContent: (turn) => ({
    candidates: [
      {
        content: {
          role: 'model',
          parts: [
            { text: `thought ${turn}`, thought: true },
            {
              functionCall: { name: CALL.name, args: CALL.arguments },
              thoughtSignature: signature('generateContent'),
            },
          ],
        },
        finishReason: 'STOP',
      },
    ],
  }),
  'ollama.chat': (turn) => ({
    message: {
      role: 'assistant',
      content: '',
      thinking: `thought ${turn}`,
      tool_calls: [{ function: CALL }],
    },
    done: true,
    done_reason: 'stop',
  }),
  'cohere.chat.v2': (turn) => ({
    message: {
      role: 'assistant',
      tool_plan: `thought ${turn}`,
      tool_calls: [
        { id: `now:${turn}`, type: 'function', function: { name: CALL.name, arguments: INPUT } },
      ],
    },
    finish_reason: 'TOOL_CALL',
  }),
  'chat.completions': (turn) => ({
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: null,
          reasoning_content: `thought ${turn}`,
          tool_calls: [
            {
              id: `call.${turn}`,
              type: 'function',
              function: { name: CALL.name, arguments: INPUT },
            },
          ],
        },
        finish_reason: 'tool_calls',
      },
    ],
  }),
};

/** The document of a wire with another text. */
const answerOf = (document: unknown, text: string): unknown =>
  JSON.parse(JSON.stringify(document).replaceAll(/Good mörning/g, text));

interface Sent {
  readonly api: string;
  readonly turn: number;
  readonly body: Json;
}

/** Places where an API has the id of a call and of its result. */
const IDS: Readonly<Record<string, readonly RegExp[]>> = {
  messages: [/"type":"tool_use","id":"([^"]*)"/g, /"tool_use_id":"([^"]*)"/g],
  'chat.completions': [/"id":"([^"]*)","type":"function"/g, /"tool_call_id":"([^"]*)"/g],
  'cohere.chat.v2': [/"id":"([^"]*)","type":"function"/g, /"tool_call_id":"([^"]*)"/g],
};

describe('a conversation that moves from model to model', () => {
  let server: WireServer;
  const sent: Sent[] = [];

  before(async () => {
    let current: Omit<Sent, 'body'>;
    server = await WireServer.start((exchange) => {
      const { api, turn } = current;
      const isFirst = !sent.some((earlier) => earlier.turn === turn);
      sent.push({ ...current, body: exchange.body });
      const { textDocument } = wireOf(api);
      const text = `answer ${turn}`;
      sendJson(exchange, isFirst ? CALLS[api]?.(turn) : answerOf(textDocument, text));
    });
    const now = defineTool({
      name: CALL.name,
      description: 'Time',
      input: { type: 'object', properties: { zone: { type: 'string' } } },
      execute: () => `noon`,
    });
    let history: readonly Message[] = [{ role: 'system', content: 'Be brief.' }];
    const keep = defineAdvisor({
      name: 'keep',
      order: AdvisorOrder.LOGGER,
      before: (request) => {
        history = request.prompt.messages;
        return request;
      },
    });
    for (const [turn, api] of ROUTE.entries()) {
      current = { api, turn };
      const client = ChatClient.create(wireOf(api).make(server.baseURL.replace('/v1', '')));
      const question: Message = { role: 'user', content: turn === 0 ? IMAGE : `question ${turn}` };
      const response = await client
        .prompt()
        .messages(...history, question)
        .tools(now)
        .advisors(keep)
        .call()
        .chatResponse();
      expect(response.text).to.equal(`answer ${turn}`);
      history = [...history, response.message].map((one) => decodeMessage(encodeMessage(one)));
    }
  });
  after(() => server.close());

  const wireOf = (api: string) => CHAT_WIRES.find((wire) => wire.api === api) ?? fail(api);
  const texts = (name: string, count: number): readonly string[] =>
    Array.from({ length: count }, (_, turn) => `${name} ${turn}`);

  for (const [turn, api] of ROUTE.entries())
    describe(`turn ${turn}, ${api}`, () => {
      const requests = (): readonly string[] =>
        sent.filter((one) => one.turn === turn).map(({ body }) => JSON.stringify(body));

      it('sends every question, answer, result and the image', () => {
        const [first = '', second = ''] = requests();

        for (const text of [...texts('question', turn + 1), ...texts('answer', turn), 'AQIDBA=='])
          expect(first).to.include(text);
        expect(first.match(/noon/g) ?? []).to.have.length(turn);
        expect(second.match(/noon/g) ?? []).to.have.length(turn + 1);
      });

      it('sends back its own signatures, and none of another provider', () => {
        const [, last = ''] = requests();
        const own = ROUTE.slice(0, turn + 1).filter((one) => one === api).length;

        const found = last.match(/SIGNATURE\w+=/g) ?? [];
        const hasSignatures = ['responses', 'messages', 'generateContent'].includes(api);
        expect(found).to.deep.equal(
          Array.from({ length: hasSignatures ? own : 0 }, () => signature(api)),
        );
      });

      it('gives each call an id that the API takes, and its result the same', () => {
        const [, last = ''] = requests();

        const [calls, results] = (IDS[api] ?? []).map((pattern) =>
          [...last.matchAll(pattern)].map(([, id]) => id),
        );
        if (calls) expect(new Set(calls).size).to.equal(turn + 1);
        expect(results).to.deep.equal(calls);
        if (api === 'messages') for (const id of calls ?? []) expect(id).to.match(/^[\w-]{1,64}$/);
      });

      it('has no field in its messages that no recorded request has', function () {
        const recorded = new Set(
          loadCassettes(this, api).flatMap(({ interactions }) =>
            interactions.flatMap(({ request }) => shapesOf(messagesIn(request.body ?? {}))),
          ),
        );

        const own = sent.filter((one) => one.turn === turn).flatMap(({ body }) => messagesIn(body));
        expect(
          shapesOf(own).filter((shape) => !recorded.has(shape) && !KNOWN.has(shape)),
        ).to.deep.equal([]);
      });
    });
});

/** Fields of the documentation of an API that no recording shows. */
const KNOWN: ReadonlySet<string> = new Set([
  '[]/assistant.tool_plan',
  '[]/assistant.thinking',
  '[]/system.role',
  '[]/system.content',
  '[]/tool.tool_name',
  '[]/user.images',
  '[]/user.content[]/input_image.detail',
  '[]/user.content[]/image.source/base64.type',
  '[]/user.content[]/image.source/base64.media_type',
  '[]/user.content[]/image.source/base64.data',
]);

function fail(api: string): never {
  throw new Error(`no wire ${api}`);
}

/** The list of messages of a request, whatever the API calls it. */
function messagesIn(body: Json): readonly unknown[] {
  return [body['messages'], body['input'], body['contents']].flatMap((list) =>
    Array.isArray(list) ? (list as readonly unknown[]) : [],
  );
}

/** Each field of a value by its path, with the role or the type of the objects on the way. */
function shapesOf(value: unknown, path = ''): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((each) => shapesOf(each, `${path}[]`));
  if (typeof value !== 'object' || value === null) return [];
  const fields = value as Json;
  const { role, type = '' } = fields;
  const kind = typeof role === 'string' ? role : (type as string);
  return Object.entries(fields).flatMap(([name, inner]) => {
    const at = `${path}/${kind}.${name}`;
    return /arguments|input|args|response$/.test(name) ? [at] : [at, ...shapesOf(inner, at)];
  });
}
