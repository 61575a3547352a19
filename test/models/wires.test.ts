import { callsOf } from '../../src/core/chat/message.js';
import { expect } from 'chai';
import fc from 'fast-check';
import {
  AdvisorChainError,
  ChatClient,
  defineTool,
  IncompleteResponseError,
  ModelCallError,
  Prompt,
  RetryAdvisor,
  type ChatModel,
  type ChatResponse,
} from '../../src/index.js';
import { CALL, CHAT_WIRES, KEY, TEXT, type WireOptions } from '../support/chat-wires.js';
import { everythingIn } from '../support/everything-in.js';
import { fuzz } from '../support/fuzz.js';
import { answering } from '../support/in-process-fetch.js';
import { runSpec } from '../support/modes.js';
import { strangeVersions } from '../support/strange-json.js';
import { sampled } from '../support/sweep.js';
import { rejectionOf, streamFrom } from '../support/wire-answers.js';
import { whenClosed, WireServer, type Exchange } from '../support/wire-server.js';

const PROMPT = new Prompt('hi');
const TOO_LONG = 'prompt is too long: 213462 tokens > 200000 maximum';
const SOON = { 'retry-after-ms': '1' };

const bytesOf = (events: readonly string[]): Uint8Array =>
  new TextEncoder().encode(events.join(''));

for (const wire of CHAT_WIRES)
  describe(`the wire ${wire.name ?? wire.api}`, () => {
    let server: WireServer;
    let answer: (exchange: Exchange) => unknown;

    before(async () => {
      server = await WireServer.start((exchange) => answer(exchange));
    });
    beforeEach(() => {
      server.exchanges.length = 0;
      answer = stream(wire.textEvents);
    });
    after(() => server.close());

    const model = (options: WireOptions = {}): ChatModel =>
      wire.make(server.baseURL.replace('/v1', ''), options);
    const begin = ({ response }: Exchange): void =>
      response.writeHead(200, { 'content-type': wire.streamType }).flushHeaders();
    const stream =
      (events: readonly string[]) =>
      (exchange: Exchange): void => {
        begin(exchange);
        exchange.response.end(events.join(''));
      };
    const json =
      (body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}) =>
      ({ response }: Exchange): void =>
        void response
          .writeHead(status, { 'content-type': 'application/json', ...headers })
          .end(JSON.stringify(body));
    const ask = {
      call: (options?: WireOptions) => model(options).call(PROMPT),
      stream: async (options?: WireOptions): Promise<ChatResponse> =>
        (await streamFrom(model(options), PROMPT)).response,
    };
    const streamOf = (pieces: readonly Uint8Array[]): Promise<ChatResponse> =>
      ask.stream({ fetch: answering(pieces, wire.streamType) });

    it('[F40] answers a call and a stream with the same text', async () => {
      const streamed = await ask.stream();
      answer = json(wire.textDocument);
      const called = await ask.call();

      expect([streamed.text, called.text]).to.deep.equal([TEXT, TEXT]);
      expect(streamed.finishReason).to.equal(called.finishReason);
    });

    it('runs the tool loop', async () => {
      answer = (exchange) =>
        stream(exchange.index === 0 ? wire.callEvents : wire.textEvents)(exchange);
      const inputs: unknown[] = [];
      const now = defineTool({
        name: CALL.name,
        description: 'Time',
        input: { type: 'object', properties: { zone: { type: 'string' } } },
        execute: (input) => {
          inputs.push(input);
          return 'noon';
        },
      });

      const events = ChatClient.create(model()).prompt('time?').tools(now).stream();

      expect(await events.finalResponse()).to.have.property('text', TEXT);
      expect(inputs).to.deep.equal([CALL.arguments]);
      expect(JSON.stringify(server.exchanges[1]?.body)).to.include('noon');
    });

    describe('names the request in its errors', () => {
      /** The package of a provider keeps the address back, and has one model. */
      const isPackage = wire.exceptions !== undefined;
      const url = (): string =>
        server.baseURL.replace('/v1', '') + server.exchanges[0]?.path.replace(/\?.*/, '');

      for (const mode of ['call', 'stream'] as const) {
        it(`${mode}: model, address and id of a refused one`, async () => {
          answer = json(wire.errorBody('no such model'), 404, { 'x-request-id': 'req-1' });

          const error = await rejectionOf(ask[mode]());

          expect(error).to.be.instanceOf(ModelCallError);
          expect(error).to.include({ model: 'm', url: url(), requestId: 'req-1' });
        });

        it(`${mode}: model, address and id of one whose answer is cut off`, async () => {
          const headers = { 'content-type': wire.streamType, 'request-id': 'req-2' };
          answer = ({ response }) =>
            void response.writeHead(200, headers).end(wire.textEvents[0]?.slice(0, -4));

          const error = await rejectionOf(ask[mode]());

          expect(error).to.be.instanceOf(ModelCallError).and.include({ model: 'm' });
          if (isPackage) return; // a call has lost the headers, too
          expect(error).to.include({ url: url(), requestId: 'req-2' });
        });

        it(`${mode}: model and address of one that reaches no server`, async () => {
          const unreachable = wire.make('http://127.0.0.1:1');

          const error = (await rejectionOf(
            mode === 'call' ? unreachable.call(PROMPT) : streamFrom(unreachable, PROMPT),
          )) as ModelCallError;

          expect(error).to.be.instanceOf(ModelCallError).and.include({ model: 'm' });
          expect(error.url).to.match(/^http:\/\/127\.0\.0\.1:1\/[^?]+$/);
          expect(error.message).to.include(`The server at ${error.url} could not be reached`);
        });
      }

      it('the model of the prompt, if that has one', async () => {
        answer = json(wire.errorBody('no'), 404);

        const error = await rejectionOf(model().call(new Prompt('hi', { model: 'other' })));

        expect(error).to.have.property('model', isPackage ? 'm' : 'other');
      });
    });

    it('[F44] takes no stream that is cut after any byte for a shorter answer', async () => {
      const bytes = bytesOf(wire.textEvents);
      const whole = await streamOf([bytes]);
      const wrong: string[] = [];
      for (const length of sampled([...bytes.keys()])) {
        const outcome: unknown = await streamOf([bytes.subarray(0, length)]).catch(
          (error: unknown) => error,
        );
        const isAnswer = (outcome as ChatResponse).text === whole.text;
        if (!isAnswer && !(outcome instanceof IncompleteResponseError))
          wrong.push(`${length}: ${String(outcome)}`);
      }

      expect(wrong).to.deep.equal([]);
    });

    it('[F44] runs no tool of a stream that is cut before its end', async () => {
      answer = ({ index, ...exchange }) => {
        begin({ index, ...exchange });
        exchange.response.write(wire.callEvents.slice(0, -1).join('').slice(0, -3), () =>
          exchange.socket.destroy(),
        );
      };
      let runs = 0;
      const now = defineTool({
        name: CALL.name,
        description: 'Time',
        input: { type: 'object', properties: {} },
        execute: () => ++runs,
      });

      const error = await rejectionOf(
        ChatClient.create(model()).prompt('time?').tools(now).stream().finalResponse(),
      );

      expect(error).to.be.instanceOf(IncompleteResponseError);
      expect(runs).to.equal(0);
    });

    it('[F55] reads the same answer however the network splits it', async () => {
      const bytes = bytesOf(wire.callEvents);
      const whole = await streamOf([bytes]);

      await fc.assert(
        fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 20 }), async (places) => {
          const cuts = [0, ...places.toSorted((a, b) => a - b), bytes.length];
          const pieces = cuts.slice(1).map((end, at) => bytes.subarray(cuts[at], end));
          expect(await streamOf(pieces)).to.deep.equal(whole);
        }),
        fuzz(`models/wire-${wire.name ?? wire.api}`, 1_000),
      );
      expect(callsOf(whole.message).map(({ name }) => name)).to.deep.equal([CALL.name]);
    });

    for (const [mode, document] of [
      ['call', wire.textDocument],
      ['stream', undefined],
    ] as const)
      it(`rejects with an error of ours, or answers, whatever is in the place of a field (${mode})`, async () => {
        const bodies = document
          ? strangeVersions(JSON.stringify(document))
          : wire.callEvents.flatMap((event, at) =>
              strangeEvents(event).map((other) => wire.callEvents.toSpliced(at, 1, other).join('')),
            );
        const wrong: string[] = [];
        for (const body of sampled(bodies)) {
          const type = document ? 'application/json' : wire.streamType;
          const fetch = answering([new TextEncoder().encode(body)], type);
          const outcome: unknown = await ask[mode]({ fetch }).catch((error: unknown) => error);
          const isOurs = !(outcome instanceof Error) || outcome instanceof AdvisorChainError;
          if (!isOurs || (outcome instanceof Error && outcome.cause instanceof TypeError))
            wrong.push(`${body}: ${String(outcome)}`);
        }

        expect(wrong).to.deep.equal([]);
        expect(bodies.length).to.be.above(10);
      });

    for (const mode of ['call', 'stream'] as const) {
      it(`[F50] sends exactly the retries asked for to a server that always fails (${mode})`, async () => {
        answer = json(wire.errorBody('try later'), 503, SOON);

        const error = await rejectionOf(ask[mode]({ maxRetries: 2 }));

        expect(error).to.include({ status: 503, providerMessage: 'try later', retryable: true });
        expect(server.exchanges).to.have.length(3);
      });

      it(`[F50] multiplies no retries with a RetryAdvisor's (${mode})`, async () => {
        answer = json(wire.errorBody('try later'), 503, SOON);
        const retry = new RetryAdvisor({ maxRetries: 2 });
        const spec = ChatClient.create(model({ maxRetries: 4 }))
          .prompt('?')
          .advisors(retry);

        const error = await rejectionOf(runSpec(mode, spec));

        expect(error).to.include({ status: 503 });
        expect(server.exchanges).to.have.length(3);
      });

      it(`[F48] is asked again by a RetryAdvisor when a server breaks off (${mode})`, async () => {
        const [first = ''] = wire.textEvents;
        const whole = mode === 'call' ? json(wire.textDocument) : stream(wire.textEvents);
        answer = (exchange) => {
          if (exchange.index > 0) return whole(exchange);
          begin(exchange);
          exchange.response.write(first, () => exchange.response.destroy());
        };
        const retry = new RetryAdvisor({ firstDelay: 0 });
        const spec = ChatClient.create(model()).prompt('?').advisors(retry);

        expect((await runSpec(mode, spec)).text).to.equal(TEXT);
        expect(server.exchanges).to.have.length(2);
      });

      it(`[F93] shows no key that the server repeats (${mode})`, async () => {
        answer = json(wire.errorBody(`wrong key ${KEY}`), 401);

        const error = await rejectionOf(ask[mode]());

        expect(error).to.include({ status: 401, providerMessage: 'wrong key ***' });
        expect(everythingIn(error)).to.not.include(KEY);
      });

      it(`[F44] rejects a page with status 200 (${mode})`, async () => {
        answer = ({ response }) =>
          response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Login</html>');

        const error = await rejectionOf(ask[mode]());

        expect(error).to.be.instanceOf(ModelCallError);
        expect((error as Error).message).to.include(wire.exceptions?.page[mode] ?? 'base URL');
      });

      it(`[F56] rejects an error with status 200 (${mode})`, async () => {
        answer =
          mode === 'call'
            ? json({ error: { message: 'overloaded' } })
            : stream([...wire.textEvents.slice(0, 2), wire.errorEvent('overloaded')]);

        const error = await rejectionOf(ask[mode]());

        expect(error).to.be.instanceOf(ModelCallError);
        expect(error).to.include({ providerMessage: 'overloaded' });
      });

      it(`recognizes a request that is too long by the words of the server (${mode})`, async () => {
        answer = json(wire.errorBody(TOO_LONG), 400);

        const error = await rejectionOf(ask[mode]());

        expect(error).to.include({ contextOverflow: true, retryable: false });
      });

      it(`recognizes a request that is too long by an error with status 200 (${mode})`, async () => {
        answer =
          mode === 'call'
            ? json({ error: { message: TOO_LONG } })
            : stream([...wire.textEvents.slice(0, 1), wire.errorEvent(TOO_LONG)]);

        const error = await rejectionOf(ask[mode]());

        expect(error).to.include({ contextOverflow: true, retryable: false });
      });

      it(`[F45] rejects when the server is silent (${mode})`, async () => {
        answer = () => undefined;

        const error = await rejectionOf(ask[mode]({ timeout: 20 }));

        expect(error).to.include({ code: 'model_timeout' });
      });

      it(`sends no key to another origin (${mode})`, async () => {
        const other = await WireServer.start((exchange) => {
          if (mode === 'call') json(wire.textDocument)(exchange);
          else stream(wire.textEvents)(exchange);
        });
        answer = ({ response }) =>
          response.writeHead(307, { location: `${other.baseURL}/elsewhere` }).end();

        const outcome = await ask[mode]().catch((error: unknown) => error);

        await other.close();
        if (wire.exceptions?.followsRedirects) {
          expect(outcome).to.have.property('text', TEXT);
          expect(JSON.stringify(other.exchanges.map(({ headers }) => headers))).to.not.include(KEY);
        } else {
          expect((outcome as Error).message).to.include('another origin');
          expect(other.connections).to.equal(0);
        }
      });

      it(`refuses an answer beyond the limit (${mode})`, async () => {
        if (mode === 'call') answer = json(wire.textDocument);

        const error = await rejectionOf(ask[mode]({ maxResponseBytes: 10 }));

        expect(error).to.include({ code: 'limit_exceeded', limit: 'response-bytes' });
      });
    }

    it('[F45] rejects a stream that pauses, with the text so far', async () => {
      answer = (exchange) => {
        begin(exchange);
        exchange.response.write(wire.textEvents.slice(0, 2).join(''));
      };

      const error = await rejectionOf(ask.stream({ idleTimeout: 30 }));

      expect(error).to.include({ code: 'model_timeout' });
      expect(TEXT.startsWith((error as ModelCallError).partialText ?? '?')).to.equal(true);
    });

    it('[F46] closes the connection when the stream is unsubscribed', async () => {
      answer = (exchange) => {
        begin(exchange);
        exchange.response.write(wire.textEvents.slice(0, 2).join(''));
      };
      const deltas: string[] = [];
      const first = new Promise<void>((resolve) => {
        const subscription = model()
          .stream(PROMPT)
          .subscribe((event) => {
            if (event.type !== 'text-delta') return;
            deltas.push(event.text);
            subscription.unsubscribe();
            resolve();
          });
      });
      const { socket } = await server.nextExchange(1);

      await first;
      await whenClosed(socket, performance.now());

      expect(deltas).to.have.length(1);
    });

    it('[F46] ends a call when its signal aborts', async () => {
      answer = () => undefined;
      const controller = new AbortController();
      const failed = rejectionOf(model().call(PROMPT, { signal: controller.signal }));
      const { socket } = await server.nextExchange(1);

      controller.abort();

      expect(await failed).to.include({ code: 'cancelled' });
      await whenClosed(socket, performance.now());
    });

    it('[F48] does not retry after the first delta', async () => {
      answer = (exchange) => {
        begin(exchange);
        exchange.response.write(wire.textEvents.slice(0, 2).join(''), () =>
          exchange.socket.destroy(),
        );
      };

      const error = await rejectionOf(ask.stream({ maxRetries: 2 }));

      expect(error).to.be.instanceOf(IncompleteResponseError);
      expect(server.exchanges).to.have.length(1);
    });
  });

/** Versions of an event with other values in its JSON. */
function strangeEvents(event: string): readonly string[] {
  const at = event.indexOf('{');
  if (at < 0) return [];
  return strangeVersions(event.slice(at).trim()).map((text) => `${event.slice(0, at)}${text}\n\n`);
}
