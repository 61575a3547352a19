import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as bodyOf } from 'node:stream/consumers';
import { expect } from 'chai';
import fc from 'fast-check';
import {
  ChatClient,
  ContextKey,
  defineAdvisor,
  defineTool,
  ToolCallingAdvisor,
  ToolCallingManager,
  type ChatClientResponse,
  type PromptSpec,
} from '../../src/index.js';
import { OpenAIChatModel } from '../../src/models/openai/index.js';

interface Call {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** An answer of the server, or its failure. */
interface Answer {
  readonly status?: number;
  readonly text?: string;
  readonly reasoning?: string;
  readonly refusal?: string;
  readonly calls: readonly Call[];
  readonly usage: boolean;
  readonly finishReason: string;
}

const anyCall: fc.Arbitrary<Call> = fc.record({
  id: fc.constantFrom('a', 'b', ''),
  name: fc.constantFrom('echo', 'fail', 'direct', 'unknown'),
  arguments: fc.constantFrom('{}', '', '{"n":1}', '{"n":"one"}', '{"n":', '[]', '{"n":1,"n":2}'),
});

const texts = fc.string({ unit: fc.constantFrom('a', ' ', 'é', '😀', '{', '\n'), maxLength: 8 });
const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(value, { nil: undefined });

const anyAnswer = (
  calls: fc.Arbitrary<readonly Call[]>,
  finishReasons: readonly string[],
): fc.Arbitrary<Answer> =>
  fc
    .record({
      text: maybe(texts),
      reasoning: maybe(texts),
      refusal: maybe(fc.constant('No.')),
      calls,
      usage: fc.boolean(),
      finishReason: fc.constantFrom(...finishReasons),
    })
    .map(
      (answer) =>
        Object.fromEntries(
          Object.entries(answer).filter(([, value]) => value !== undefined),
        ) as unknown as Answer,
    );

const script: fc.Arbitrary<readonly Answer[]> = fc
  .tuple(
    fc.array(
      anyAnswer(fc.array(anyCall, { minLength: 1, maxLength: 3 }), [
        'tool_calls',
        'stop',
        'length',
      ]),
      { maxLength: 4 },
    ),
    fc.oneof(
      { weight: 5, arbitrary: anyAnswer(fc.constant([]), ['stop', 'length', 'content_filter']) },
      {
        weight: 1,
        arbitrary: fc.constant<Answer>({ status: 400, calls: [], usage: false, finishReason: '' }),
      },
    ),
  )
  .map(([asking, last]) => [...asking, last]);

const wireCalls = (calls: readonly Call[]): object[] =>
  calls.map(({ id, name, arguments: args }, index) => ({
    index,
    id,
    type: 'function',
    function: { name, arguments: args },
  }));

const USAGE = {
  prompt_tokens: 3,
  completion_tokens: 2,
  total_tokens: 5,
  prompt_tokens_details: { cached_tokens: 1 },
};

/** A chat completions server that plays a script from its beginning for each turn. */
class ScriptedServer {
  requests: Record<string, unknown>[] = [];
  script: readonly Answer[] = [];
  private readonly server: Server = createServer((request, response) => {
    void bodyOf(request).then((body) =>
      this.answer(JSON.parse(body) as Record<string, unknown>, response),
    );
  });

  async start(): Promise<string> {
    await once(this.server.listen(0, '127.0.0.1'), 'listening');
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1`;
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private answer(request: Record<string, unknown>, response: ServerResponse): void {
    const answer = this.script[this.requests.length] ?? this.script.at(-1);
    this.requests.push(request);
    if (!answer) throw new Error('no script');
    if (answer.status !== undefined) {
      response.writeHead(answer.status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: 'refused', code: 'bad' } }));
    } else if (request['stream'] === true) this.stream(answer, response);
    else this.whole(answer, response);
  }

  private whole(
    { text, reasoning, refusal, calls, usage, finishReason }: Answer,
    response: ServerResponse,
  ): void {
    const message = {
      role: 'assistant',
      content: text ?? null,
      ...(reasoning !== undefined && { reasoning_content: reasoning }),
      ...(refusal !== undefined && { refusal }),
      ...(calls.length > 0 && {
        tool_calls: wireCalls(calls).map((call) => ({ ...call, index: undefined })),
      }),
    };
    const choices = [{ index: 0, message, finish_reason: finishReason }];
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({
        id: 'x',
        object: 'chat.completion',
        model: 'm-1',
        choices,
        ...(usage && { usage: USAGE }),
      }),
    );
  }

  private stream(
    { text = '', reasoning = '', refusal = '', calls, usage, finishReason }: Answer,
    response: ServerResponse,
  ): void {
    const send = (fields: object): void => {
      response.write(
        `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', model: 'm-1', ...fields })}\n\n`,
      );
    };
    const sendDelta = (delta: object): void =>
      send({ choices: [{ index: 0, delta, finish_reason: null }] });
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    sendDelta({ role: 'assistant' });
    for (const piece of reasoning) sendDelta({ reasoning_content: piece });
    for (const piece of text) sendDelta({ content: piece });
    for (const piece of refusal) sendDelta({ refusal: piece });
    for (const call of wireCalls(calls)) sendDelta({ tool_calls: [call] });
    send({ choices: [{ index: 0, delta: {}, finish_reason: finishReason }] });
    if (usage) send({ choices: [], usage: USAGE });
    response.end('data: [DONE]\n\n');
  }
}

const VISITS = new ContextKey<number>('test.visits', 0);

/** Outcome of a turn: the response with its context, or the error. */
type Outcome =
  { readonly response: unknown; readonly visits: number } | { readonly error: unknown };

const outcomeOf = async (run: Promise<ChatClientResponse>): Promise<Outcome> => {
  try {
    const { chatResponse, context } = await run;
    return { response: { ...chatResponse }, visits: context.get(VISITS) };
  } catch (error) {
    return { error: { ...(error as object), message: (error as Error).message } };
  }
};

const callOf = (spec: PromptSpec): Promise<ChatClientResponse> => spec.call().chatClientResponse();

const streamOf = (spec: PromptSpec): Promise<ChatClientResponse> =>
  new Promise((resolve, reject) => {
    let last: ChatClientResponse | undefined;
    spec
      .stream()
      .chatClientResponse()
      .subscribe({
        next: (response) => (last = response),
        error: reject,
        complete: () => resolve(last as ChatClientResponse),
      });
  });

const withoutStreamFields = ({
  stream: _stream,
  stream_options: _options,
  ...rest
}: Record<string, unknown>): unknown => rest;

/** Plays random scripts of a server by call and by stream and compares the outcomes. */
export function describeParity({ scripts }: { readonly scripts: number }): void {
  describe('call and stream', function () {
    this.timeout(120_000);
    const server = new ScriptedServer();
    let baseURL: string;
    const ran: string[] = [];

    before(async () => (baseURL = await server.start()));
    after(() => server.stop());

    const schema = { type: 'object', properties: { n: { type: 'integer' } } };
    const tools = [
      defineTool({
        name: 'echo',
        input: schema,
        execute: (args, { call }) => (ran.push(call.id), args),
      }),
      defineTool({
        name: 'fail',
        execute: (_args, { call }) => {
          ran.push(call.id);
          throw new Error('broken');
        },
      }),
      defineTool({
        name: 'direct',
        returnDirect: true,
        execute: (_args, { call }) => (ran.push(call.id), 'direct'),
      }),
    ];
    const counting = defineAdvisor({
      name: 'counting',
      order: 9_000,
      before: (request) => request.withContext(VISITS, request.context.get(VISITS) + 1),
    });

    /**
     * Plays a script and gives the outcome, the requests without their stream fields, and the calls
     * that ran.
     */
    async function play(
      answers: readonly Answer[],
      run: (spec: PromptSpec) => Promise<ChatClientResponse>,
    ): Promise<unknown> {
      server.script = answers;
      server.requests = [];
      ran.length = 0;
      const model = new OpenAIChatModel({ model: 'm', apiKey: 'k', baseURL, maxRetries: 0 });
      const loop = new ToolCallingAdvisor({
        maxIterations: 3,
        manager: new ToolCallingManager({ maxTotalCalls: 6 }),
      });
      const spec = ChatClient.create(model)
        .prompt('?')
        .turnId('t')
        .system('S')
        .tools(tools)
        .advisors(loop, counting);
      const outcome = await outcomeOf(run(spec));
      return { outcome, requests: server.requests.map(withoutStreamFields), ran: [...ran].sort() };
    }

    it('[F40] [F53] have the same response, context, requests, tool runs and errors for any script of a server', async () => {
      const property = fc.asyncProperty(script, async (answers) => {
        expect(await play(answers, streamOf)).to.deep.equal(await play(answers, callOf));
      });

      await fc.assert(property, { numRuns: scripts });
    });
  });
}
