import { setTimeout as sleep } from 'node:timers/promises';
import { context, propagation, trace } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici';
import { expect } from 'chai';
import { lastValueFrom } from 'rxjs';
import { ChatClient, defineTool, ObservabilityAdvisor } from '../../../src/index.js';
import { OpenAIChatModel } from '../../../src/models/openai/index.js';
import { MODES, type Mode } from '../../support/modes.js';
import {
  chunk,
  completion,
  sendEvents,
  sendJson,
  sendText,
  WireServer,
  type Exchange,
} from '../../support/wire-server.js';
import {
  recordSpans,
  treeOf,
  useContextManager,
  type Recording,
} from '../../support/recorded-spans.js';

const call = {
  index: 0,
  id: 'c1',
  type: 'function',
  function: { name: 'get_weather', arguments: '{}' },
};

/** A model that calls the weather tool first; other requests get an answer too. */
function answer(exchange: Exchange): void {
  const { messages, stream } = exchange.body as {
    readonly messages?: readonly { readonly role: string }[];
    readonly stream?: boolean;
  };
  const asks = messages?.at(-1)?.role === 'user';
  const message = { role: 'assistant', content: null, tool_calls: [call] };
  if (!stream) {
    sendJson(
      exchange,
      asks
        ? completion('', { choices: [{ index: 0, message, finish_reason: 'tool_calls' }] })
        : completion('Sunny.'),
    );
  } else if (asks) sendEvents(exchange, [chunk(message), chunk({}, 'tool_calls'), '[DONE]']);
  else sendText(exchange, 'Sunny.');
}

describe('instrumented fetch requests', () => {
  let server: WireServer;
  let recording: Recording;
  let stop: () => void;
  let instrumentation: UndiciInstrumentation;

  beforeEach(async () => {
    server = await WireServer.start(answer);
    recording = recordSpans();
    stop = useContextManager();
    propagation.setGlobalPropagator(new W3CTraceContextPropagator());
    instrumentation = new UndiciInstrumentation(); // enabled from now on
    instrumentation.setTracerProvider({ getTracer: () => recording.tracer });
  });
  afterEach(async () => {
    instrumentation.disable();
    propagation.disable();
    stop();
    await server.close();
  });

  /** A turn within a span of the application. */
  async function turn(mode: Mode, name: string): Promise<void> {
    const tool = defineTool({
      name: 'get_weather',
      execute: async () => (await fetch(server.baseURL)).text(),
    });
    const model = new OpenAIChatModel({ model: 'm', apiKey: 'sk-test', baseURL: server.baseURL });
    const spec = ChatClient.create(model)
      .prompt('Hi.')
      .tools(tool)
      .advisors(new ObservabilityAdvisor({ tracer: recording.tracer }));
    const caller = recording.tracer.startSpan(name);
    const ask = (): Promise<unknown> =>
      mode === 'call' ? spec.call().content() : lastValueFrom(spec.stream().chatResponse());
    await context.with(trace.setSpan(context.active(), caller), ask);
    caller.end();
  }

  const treeBelow = (name: string): string =>
    `
${name}
  invoke_agent
    advisor tool-calling
      chat m
        POST
      execute_tool get_weather
        GET
      chat m
        POST`.trim();

  for (const mode of MODES)
    it(`are children of their model call or tool call, with its traceparent, in a ${mode}`, async () => {
      const names = ['GET /a', 'GET /b', 'GET /c'];
      await Promise.all(names.map((name) => turn(mode, name)));
      // the span of a request ends with its body, which may be after the turn
      for (let at = 0; at < 1_000 && recording.spans.length < names.length * 9; at++)
        await sleep(5);

      const { spans } = recording;
      for (const name of names) {
        const traceId = spans.find((span) => span.name === name)?.spanContext().traceId;
        expect(treeOf(spans.filter((span) => span.spanContext().traceId === traceId))).to.equal(
          treeBelow(name),
        );
      }
      expect(recording.problems).to.deep.equal([]);
      const requests = spans
        .filter(({ name }) => name === 'GET' || name === 'POST')
        .map((span) => span.spanContext());
      expect(server.exchanges.map(({ headers }) => headers['traceparent'])).to.have.members(
        requests.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`),
      );
    });
});
