import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { ChatClient, type ChatResponse } from '../../../src/index.js';
import {
  OpenAIChatModel,
  OpenAIResponsesModel,
  type OpenAIChatModelOptions,
} from '../../../src/models/openai/index.js';
import { jsonList, loadCassettes, stringOf, type Json } from '../../support/cassettes.js';
import { PlaybackServer } from '../../support/playback-server.js';
import { lastOf } from '../../support/recording-replay.js';
import { chatTurnOf, responsesTurnOf, type RecordedTurn } from '../../support/recorded-turns.js';

const PAGE = readFileSync(
  fileURLToPath(new URL('../../../docs/models/compatible.md', import.meta.url)),
  'utf8',
);

type Api = 'chat.completions' | 'responses';

/** A server of the page: its heading, its address, and the recordings of it. */
interface Server {
  readonly heading: string;
  readonly baseURL: string;
  readonly provider: string;
  readonly apis: readonly Api[];
  /** Options of the page besides model, address and key. */
  readonly options?: Partial<OpenAIChatModelOptions>;
  readonly isOpen?: boolean;
}

const BOTH = ['chat.completions', 'responses'] as const;
const SERVERS: readonly Server[] = [
  {
    heading: 'Azure',
    baseURL: 'https://my-resource.openai.azure.com/openai/v1',
    provider: 'azure-openai',
    apis: BOTH,
  },
  { heading: 'DeepSeek', baseURL: 'https://api.deepseek.com', provider: 'deepseek', apis: BOTH },
  {
    heading: 'Groq',
    baseURL: 'https://api.groq.com/openai/v1',
    provider: 'groq',
    apis: ['chat.completions'],
  },
  {
    heading: 'llama.cpp',
    baseURL: 'http://127.0.0.1:8080/v1',
    provider: 'llama.cpp',
    apis: ['chat.completions'],
    isOpen: true,
  },
  {
    heading: 'Mistral',
    baseURL: 'https://api.mistral.ai/v1',
    provider: 'mistral',
    apis: ['chat.completions'],
    options: { seed: 7 },
  },
  {
    heading: 'OpenRouter',
    baseURL: 'https://openrouter.ai/api/v1',
    provider: 'openrouter',
    apis: BOTH,
  },
  {
    heading: 'vLLM',
    baseURL: 'http://127.0.0.1:8000/v1',
    provider: 'vllm',
    apis: ['chat.completions'],
    isOpen: true,
  },
  { heading: 'xAI', baseURL: 'https://api.x.ai/v1', provider: 'xai', apis: BOTH },
];

const APIS = {
  'chat.completions': { path: '/chat/completions', turnOf: chatTurnOf, Model: OpenAIChatModel },
  responses: { path: '/responses', turnOf: responsesTurnOf, Model: OpenAIResponsesModel },
} as const;

/** The section of the page below a heading. */
function sectionOf(heading: string): string {
  return PAGE.split(/^## /m).find((section) => section.startsWith(`${heading}\n`)) ?? '';
}

/** Ids of the calls whose results a request has. */
function answeredCalls(body: Json | undefined): readonly string[] {
  const messages = [...jsonList(body?.['messages']), ...jsonList(body?.['input'])];
  return messages.flatMap(({ role, type, tool_call_id: chat, call_id: responses }) =>
    role === 'tool' || type === 'function_call_output' ? [stringOf(chat ?? responses)] : [],
  );
}

describe('docs/models/compatible.md', () => {
  let playback: PlaybackServer;

  before(async () => {
    playback = await PlaybackServer.start();
  });
  after(() => playback.close());

  /** Replays a turn with a model as the page makes it; its requests go to the recording. */
  async function replay(server: Server, api: Api, turn: RecordedTurn) {
    const run = playback.play(turn.responses);
    const sent: { readonly url: string; readonly key: string | null }[] = [];
    const model = new APIS[api].Model({
      model: 'recorded',
      baseURL: server.baseURL,
      ...(!server.isOpen && { apiKey: 'sk-test' }),
      ...server.options,
      maxRetries: 0,
      fetch: (input, init) => {
        const url = String(input as string);
        sent.push({ url, key: new Headers(init?.headers).get('authorization') });
        return fetch(url.replace(server.baseURL, run.baseURL), init);
      },
    });
    const spec = ChatClient.create(model)
      .prompt()
      .messages(...turn.messages)
      .tools(...turn.tools);
    const response: ChatResponse = turn.isStream
      ? await lastOf(spec.stream().events())
      : await spec.call().chatResponse();
    return { response, sent, requests: run.requests };
  }

  for (const server of SERVERS)
    for (const api of server.apis)
      it(`reaches ${server.heading} by its section: a recorded turn of ${api}`, async function () {
        const cassettes = loadCassettes(this, api);
        const { path, turnOf, Model } = APIS[api];
        const turn = turnOf(cassettes.filter(({ provider }) => provider === server.provider));
        if (!turn) throw new Error(`no recorded turn of ${server.provider}`);

        const { response, sent, requests } = await replay(server, api, turn);

        const { text, usage } = response;
        expect(sectionOf(server.heading)).to.include(`'${server.baseURL}'`).and.include(Model.name);
        for (const { url, key } of sent)
          expect([url, key]).to.deep.equal([
            server.baseURL + path,
            server.isOpen ? null : 'Bearer sk-test',
          ]);
        expect(requests).to.have.length(turn.responses.length);
        expect(answeredCalls(requests.at(-1))).to.have.members(turn.callIds);
        expect(text ?? '').to.equal(turn.text);
        if (turn.usage) expect([usage?.inputTokens, usage?.outputTokens]).to.deep.equal(turn.usage);
      });

  it('replays turns with tools of all servers with such recordings', function () {
    const withTools = SERVERS.flatMap(({ heading, provider, apis }) =>
      apis.flatMap((api) => {
        const cassettes = loadCassettes(this, api).filter((each) => each.provider === provider);
        return (APIS[api].turnOf(cassettes)?.callIds.length ?? 0) > 0 ? [`${heading} ${api}`] : [];
      }),
    );

    expect(withTools).to.have.length.of.at.least(9);
  });

  it('has the addresses of LM Studio, of which there is no recording', () => {
    const baseURL = 'http://127.0.0.1:1234/v1';

    for (const Model of [OpenAIChatModel, OpenAIResponsesModel])
      expect(new Model({ model: 'm', baseURL }).provider).to.include({ port: 1234 });
    expect(sectionOf('LM Studio')).to.include(`'${baseURL}'`);
  });
});
