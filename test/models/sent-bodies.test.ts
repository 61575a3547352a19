import { expect } from 'chai';
import OpenAI from 'openai';
import { lastValueFrom } from 'rxjs';
import {
  AdvisorOrder,
  ChatClient,
  defineAdvisor,
  Prompt,
  type ChatModel,
} from '../../src/index.js';
import type { ModelRun, SentBody } from '../../src/core/chat/chat-model.js';
import { askModel, TURN_OBSERVATION } from '../../src/core/observation/ask-model.js';
import { OpenAIChatModel } from '../../src/models/openai/index.js';
import { CHAT_WIRES, KEY, type WireOptions } from '../support/chat-wires.js';
import { failureOf, MODES, runSpec, type Mode } from '../support/modes.js';
import { RecordedObservation } from '../support/recorded-observation.js';
import { WireServer, type Exchange } from '../support/wire-server.js';

const PROMPT = new Prompt('hi', { temperature: 0.5 });
const SOON = { 'retry-after-ms': '1' };

for (const wire of CHAT_WIRES)
  describe(`requests for inspectors: the wire ${wire.name ?? wire.api}`, () => {
    /** The package of a provider makes the body of the options of a call. */
    const isPackage = wire.exceptions !== undefined;
    let server: WireServer;
    let failures = 0;

    before(async () => {
      server = await WireServer.start(({ response }: Exchange) => {
        if (failures-- > 0) return void response.writeHead(503, SOON).end('{}');
        response.writeHead(200, { 'content-type': wire.streamType }).end(wire.textEvents.join(''));
      });
    });
    beforeEach(() => {
      server.exchanges.length = 0;
      failures = 0;
    });
    after(() => server.close());

    const root = (): string => server.baseURL.replace('/v1', '');
    const model = (options: WireOptions = {}): ChatModel =>
      wire.make(root(), { ...(!isPackage && { headers: { 'x-secret': KEY } }), ...options });
    const ask = (mode: Mode, on: ChatModel, run: ModelRun) =>
      mode === 'call' ? on.call(PROMPT, run) : lastValueFrom(on.stream(PROMPT, run));

    for (const mode of MODES) {
      it(`shows the body that is sent, without headers and keys (${mode})`, async () => {
        const sent: SentBody[] = [];

        await failureOf(ask(mode, model(), { onRequest: (each) => sent.push(each) }));

        const [exchange] = server.exchanges;
        const [{ url, body } = { body: undefined }] = sent;
        const text = JSON.stringify(body);
        expect(sent).to.have.length(1);
        expect(text).to.include('hi').and.include('0.5');
        expect(`${url} ${text}`).to.not.include(KEY);
        if (isPackage) return;
        expect(JSON.parse(text)).to.deep.equal(exchange?.body);
        expect(url).to.equal(root() + exchange?.path.replace(/\?.*/, ''));
      });

      it(`is not hurt by a listener that fails, and shows retries once (${mode})`, async () => {
        failures = 1;
        const sent: unknown[] = [];

        await failureOf(
          ask(mode, model({ maxRetries: 1 }), { onRequest: (each) => sent.push(each) }),
        );

        expect(server.exchanges).to.have.length(2);
        expect(sent).to.have.length(isPackage ? 2 : 1);
      });

      it(`reports how long it has waited for a retry (${mode})`, async () => {
        failures = 1;
        const waits: (number | undefined)[] = [];
        const onRetry: ModelRun['onRetry'] = (_, waited) => waits.push(waited);

        await failureOf(ask(mode, model({ maxRetries: 1 }), { onRetry }));

        expect(waits).to.deep.equal([1]);
      });

      it(`is an event of the call in an observed turn alone (${mode})`, async () => {
        const observation = new RecordedObservation();
        const observed = defineAdvisor({
          name: 'inspector',
          order: AdvisorOrder.TURN,
          before: (request) => request.with({ observation }),
        });
        const client = ChatClient.create(model());

        await failureOf(runSpec(mode, client.prompt('hi').advisors(observed)));

        const requests = observation.notes.filter((event) => event.type === 'request');
        expect(requests).to.have.length(1);
        expect(JSON.stringify(requests[0]?.request.body)).to.include('hi');
      });
    }
  });

describe('requests for inspectors', () => {
  let server: WireServer;
  before(async () => {
    server = await WireServer.start(({ response }: Exchange) => {
      const choices = [{ message: { content: 'fine' }, finish_reason: 'stop' }];
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ choices }));
    });
  });
  after(() => server.close());

  it('have the body that a client of the openai package sends', async () => {
    const client = new OpenAI({ apiKey: KEY, baseURL: `${server.baseURL}?key=${KEY}` });
    const sent: SentBody[] = [];
    const model = new OpenAIChatModel({ model: 'm', client, maxRetries: 0 });

    await failureOf(model.call(PROMPT, { onRequest: (each) => sent.push(each) }));

    expect(sent[0]?.body).to.deep.include({ model: 'm', temperature: 0.5 });
    expect(sent[0]?.url).to.not.include(KEY);
  });

  it('are shown of a call beside the chain', async () => {
    const model = new OpenAIChatModel({ model: 'm', apiKey: KEY, baseURL: server.baseURL });
    const observation = new RecordedObservation();
    const summarize = defineAdvisor({
      name: 'summary',
      order: AdvisorOrder.LOGGER,
      around: ({ run, signal }) => {
        TURN_OBSERVATION.set(run, observation);
        return askModel(model, new Prompt('sum up'), signal);
      },
    });

    await ChatClient.create(model).prompt('hi').advisors(summarize).call().content();

    const [request] = observation.notes;
    expect(request?.type === 'request' && JSON.stringify(request.request)).to.include('sum up');
  });
});
