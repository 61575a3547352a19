import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import {
  defineTool,
  InvalidArgumentError,
  Prompt,
  type ChatOptions,
  type ChatResponse,
  type ContentPart,
  type Message,
} from '../../src/index.js';
import * as anthropic from '../../src/models/anthropic/index.js';
import * as cohere from '../../src/models/cohere/index.js';
import * as google from '../../src/models/google/index.js';
import * as ollama from '../../src/models/ollama/index.js';
import * as openai from '../../src/models/openai/index.js';
import { CALL, CHAT_WIRES, type ChatWire, type WireOptions } from '../support/chat-wires.js';

const DATA = 'AQIDBA==';
const ADDRESS = 'https://a.example/x';
const TOOL = defineTool({
  name: CALL.name,
  description: 'Time',
  input: {
    type: 'object',
    properties: { zone: { type: 'string' } },
    required: ['zone'],
    additionalProperties: false,
  },
  execute: () => 'noon',
});
const SCHEMA = {
  type: 'object',
  properties: { marked: { type: 'string' } },
  required: ['marked'],
  additionalProperties: false,
} as const;

const cited = { type: 'url_citation', url: ADDRESS };
const logprobs = [{ token: 'a', logprob: -1 }];

/** For each wire its entry, and an answer with all that the API can send. */
const APIS: Readonly<Record<string, { readonly entry: object; readonly answer: unknown }>> = {
  'chat.completions': {
    entry: openai,
    answer: {
      choices: [
        {
          message: {
            content: 'a',
            reasoning_content: 'hm',
            reasoning_details: [{ type: 'reasoning.encrypted', data: 'SIGNED' }],
            annotations: [{ type: 'url_citation', url_citation: cited }],
          },
          logprobs: { content: logprobs },
          finish_reason: 'stop',
        },
      ],
      usage: {
        prompt_tokens: 9,
        completion_tokens: 3,
        prompt_tokens_details: { cached_tokens: 7, cache_write_tokens: 1 },
        completion_tokens_details: { reasoning_tokens: 2 },
      },
    },
  },
  responses: {
    entry: openai,
    answer: {
      status: 'completed',
      output: [
        {
          type: 'reasoning',
          summary: [{ type: 'summary_text', text: 'hm' }],
          encrypted_content: 'SIGNED',
        },
        {
          type: 'message',
          content: [{ type: 'output_text', text: 'a', annotations: [cited], logprobs }],
        },
      ],
      usage: {
        input_tokens: 9,
        output_tokens: 3,
        input_tokens_details: { cached_tokens: 7, cache_write_tokens: 1 },
        output_tokens_details: { reasoning_tokens: 2 },
      },
    },
  },
  messages: {
    entry: anthropic,
    answer: {
      content: [
        { type: 'thinking', thinking: 'hm', signature: 'SIGNED' },
        { type: 'text', text: 'a', citations: [{ url: ADDRESS }] },
      ],
      stop_reason: 'end_turn',
      usage: {
        input_tokens: 1,
        output_tokens: 3,
        cache_read_input_tokens: 7,
        cache_creation_input_tokens: 1,
        output_tokens_details: { thinking_tokens: 2 },
      },
    },
  },
  generateContent: {
    entry: google,
    answer: {
      candidates: [
        {
          content: {
            parts: [
              { thought: true, text: 'hm' },
              { text: 'a', thoughtSignature: 'SIGNED' },
            ],
          },
          groundingMetadata: { groundingChunks: [{ web: { uri: ADDRESS } }] },
          logprobsResult: { chosenCandidates: logprobs },
          finishReason: 'STOP',
        },
      ],
      usageMetadata: {
        promptTokenCount: 9,
        candidatesTokenCount: 1,
        thoughtsTokenCount: 2,
        cachedContentTokenCount: 7,
      },
    },
  },
  'cohere.chat.v2': {
    entry: cohere,
    answer: {
      message: {
        content: [
          { type: 'thinking', thinking: 'hm' },
          { type: 'text', text: 'a' },
        ],
        citations: [
          { start: 0, end: 1, sources: [{ type: 'document', document: { url: ADDRESS } }] },
        ],
      },
      logprobs,
      finish_reason: 'COMPLETE',
      usage: {
        tokens: { input_tokens: 9, output_tokens: 3, reasoning_tokens: 2 },
        cached_tokens: 7,
      },
    },
  },
  'ollama.chat': {
    entry: ollama,
    answer: {
      message: { content: 'a', thinking: 'hm' },
      logprobs,
      done: true,
      done_reason: 'stop',
      prompt_eval_count: 9,
      eval_count: 3,
    },
  },
};

/** Not those by a package of others, which decides what it sends. */
const NATIVE = CHAT_WIRES.filter(({ name }) => name === undefined);

interface Asked {
  /** Body of the request; undefined if the model has refused it. */
  readonly sent: string | undefined;
  readonly response: ChatResponse | undefined;
}

async function ask(
  wire: ChatWire,
  messages: string | readonly Message[],
  options: ChatOptions = {},
  more: object = {},
): Promise<Asked> {
  let sent: string | undefined;
  const fetch: WireOptions['fetch'] = async (_address, request) => {
    sent = request?.body as string;
    return Response.json(APIS[wire.api]?.answer);
  };
  try {
    const model = wire.make('http://127.0.0.1', { ...more, fetch });
    return { response: await model.call(new Prompt(messages, options)), sent };
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    return { sent: undefined, response: undefined };
  }
}

type Probe = (wire: ChatWire) => Promise<boolean>;

const sends =
  (part: ContentPart): Probe =>
  async (wire) => {
    const { sent = '' } = await ask(wire, [{ role: 'user', content: [part] }]);
    return sent.includes(part.type !== 'text' && part.type !== 'raw' && part.url ? ADDRESS : DATA);
  };
/** True if the options change the request. */
const takes =
  (options: ChatOptions, base: ChatOptions = {}): Probe =>
  async (wire) => {
    const plain = await ask(wire, 'hi', base);
    const { sent } = await ask(wire, 'hi', { ...base, ...options });
    return sent !== undefined && sent !== plain.sent;
  };
const reads =
  (value: (response: ChatResponse) => unknown): Probe =>
  async (wire) => {
    const { response } = await ask(wire, 'hi');
    return response !== undefined && Boolean(value(response));
  };
const tools = { tools: [TOOL] };

const PROBES: Readonly<Record<string, Probe>> = {
  'images by content': sends({ type: 'image', data: DATA, mediaType: 'image/png' }),
  'images by address': sends({ type: 'image', url: ADDRESS }),
  audio: sends({ type: 'audio', data: DATA, mediaType: 'audio/wav' }),
  'files by content': sends({ type: 'file', data: DATA, mediaType: 'application/pdf' }),
  'files by address': sends({ type: 'file', url: ADDRESS, mediaType: 'application/pdf' }),
  tools: takes(tools),
  '`toolChoice: required`': takes({ toolChoice: 'required' }, tools),
  '`toolChoice: none`': takes({ toolChoice: 'none' }, tools),
  '`toolChoice: { tool }`': takes({ toolChoice: { tool: CALL.name } }, tools),
  '`parallelToolCalls`': takes({ parallelToolCalls: false }, tools),
  '`strictTools`': takes({ strictTools: true }, tools),
  '`providerTools`': takes({ providerTools: [{ type: 'search' }] }),
  '`responseFormat: json`': takes({ responseFormat: 'json' }),
  'schema of `entity()`': async (wire) => {
    const { sent = '' } = await ask(wire, 'hi', { responseFormat: { schema: SCHEMA } });
    const model = wire.make('http://127.0.0.1');
    return model.supportsSchema?.(SCHEMA) === true && sent.includes('marked');
  },
  '`reasoningEffort`': takes({ reasoningEffort: 'low' }),
  '`temperature`, `topP`, `maxTokens`': async (wire) =>
    (await takes({ temperature: 0.5 })(wire)) &&
    (await takes({ topP: 0.5 })(wire)) &&
    takes({ maxTokens: 5 })(wire),
  '`topK`': takes({ topK: 5 }),
  '`stopSequences`': takes({ stopSequences: ['x'] }),
  '`seed`': takes({ seed: 7 }),
  '`logprobs`': takes({ logprobs: true }),
  '`frequencyPenalty`, `presencePenalty`': async (wire) =>
    (await takes({ frequencyPenalty: 1 })(wire)) && takes({ presencePenalty: 1 })(wire),
  '`user`': takes({ user: 'anna' }),
  '`metadata`': takes({ metadata: { team: 'red' } }),
  'option `promptCache`': async (wire) => {
    const { sent = '' } = await ask(wire, 'hi', {}, { promptCache: { messages: '5m' } });
    return sent.includes('cache_control');
  },
  'text of reasoning': reads(({ message }) => message.reasoning === 'hm'),
  'signatures of reasoning go back': async (wire) => {
    const { response } = await ask(wire, 'hi');
    const question: Message = { role: 'user', content: 'hi' };
    const { sent } = await ask(wire, [question, ...(response ? [response.message] : []), question]);
    return sent?.includes('SIGNED') === true;
  },
  citations: reads(({ citations }) => citations.some(({ url }) => url === ADDRESS)),
  'finish reason': reads(({ finishReason }) => finishReason),
  'cached input tokens': reads(({ usage }) => usage?.cachedInputTokens === 7),
  'tokens written to a cache': reads(({ usage }) => usage?.cacheWriteTokens === 1),
  'reasoning tokens': reads(({ usage }) => usage?.reasoningTokens === 2),
  embeddings: async ({ api }) =>
    Object.keys(APIS[api]?.entry ?? {}).some((name) => name.endsWith('EmbeddingModel')),
};

/** The rows of the table in the docs: cells without spaces around them. */
function documented(): readonly string[] {
  const docs = readFileSync(new URL('../../docs/models.md', import.meta.url), 'utf8');
  const [, section = ''] = docs.split('\n## Features\n');
  const rows = section.split('\n## ')[0]?.match(/^\|.*\|$/gm) ?? [];
  return rows.slice(2).map((row) =>
    row
      .split(/ *\| */)
      .slice(1, -1)
      .join(' | '),
  );
}

describe('features of the wires', () => {
  it('equal the table in docs/models.md', async () => {
    const rows: string[] = [];
    for (const [feature, probe] of Object.entries(PROBES)) {
      const cells = await Promise.all(NATIVE.map(probe));
      rows.push([feature, ...cells.map((has) => (has ? 'yes' : '–'))].join(' | '));
    }

    expect(documented()).to.deep.equal(rows);
  });
});
