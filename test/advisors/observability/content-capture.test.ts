import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { expect } from 'chai';
import {
  ObservabilityAdvisor,
  type ChatModel,
  type ObservabilityAdvisorOptions,
} from '../../../src/index.js';
import type { RecordedText } from '../../../advisors/observability/telemetry-options.js';
import { OpenAIChatModel } from '../../../src/models/openai/index.js';
import {
  beginEvents,
  chunk,
  sendEvent,
  sendJson,
  WireServer,
  type Exchange,
} from '../../support/wire-server.js';
import { MODES, type Mode } from '../../support/modes.js';
import { malformedIn } from '../../support/genai-schemas.js';
import {
  everythingIn,
  exportedOf,
  recordMetrics,
  valuesOf,
} from '../../support/recorded-telemetry.js';
import {
  runSecretTurn,
  SECRET,
  secret,
  SECRET_TURNS,
  type SecretTurn,
} from '../../support/secret-turns.js';
import { recordSpans } from '../../support/recorded-spans.js';

const KINDS: readonly RecordedText[] = [
  'message',
  'system-instructions',
  'tool-definition',
  'tool-arguments',
  'tool-result',
  'exception',
];

interface Captured {
  readonly spans: readonly ReadableSpan[];
  /** All spans and metrics as one text. */
  readonly text: string;
}

async function capture(
  mode: Mode,
  turn: SecretTurn,
  options: ObservabilityAdvisorOptions = {},
  model?: ChatModel,
): Promise<Captured> {
  const recording = recordSpans();
  const { meter, collect } = recordMetrics();
  const observer = new ObservabilityAdvisor({
    tracer: recording.tracer,
    meter,
    captureContent: true,
    ...options,
  });
  await runSecretTurn(mode, turn, [observer], model);
  return {
    spans: recording.spans,
    text: everythingIn([recording.spans.map(exportedOf), await collect()]),
  };
}

function turnNamed(name: string): SecretTurn {
  const turn = SECRET_TURNS.find((one) => one.name === name);
  if (!turn) throw new Error(`no turn ${name}`);
  return turn;
}

/** Attributes of spans that contain the secret of a place. */
function placesOf(place: string, spans: readonly ReadableSpan[]): readonly string[] {
  return [
    ...new Set(
      valuesOf(spans).flatMap(([at, value]) => (String(value).includes(secret(place)) ? [at] : [])),
    ),
  ].toSorted();
}

/** The decoded form of a text that may be JSON. */
function decoded(text: string): string {
  try {
    return everythingIn(JSON.parse(text));
  } catch {
    return text;
  }
}

const INPUT = 'gen_ai.input.messages';
const OUTPUT = 'gen_ai.output.messages';
const ARGUMENTS = 'gen_ai.tool.call.arguments';
const DEFINITIONS = 'gen_ai.tool.definitions';

for (const mode of MODES)
  describe(`ContentCapture of a ${mode}`, () => {
    it('records content in the attributes of the conventions only', async () => {
      const { spans } = await capture(mode, turnNamed('success'));
      const expected: Readonly<Record<string, readonly string[]>> = {
        system: ['gen_ai.system_instructions'],
        prompt: [INPUT],
        earlier: [INPUT],
        'earlier-argument': [INPUT],
        'earlier-result': [INPUT],
        'image-url': [INPUT],
        preamble: [INPUT, OUTPUT],
        argument: [INPUT, OUTPUT, ARGUMENTS],
        result: [INPUT, 'gen_ai.tool.call.result'],
        answer: [OUTPUT],
        reasoning: [OUTPUT],
        description: [DEFINITIONS, 'gen_ai.tool.description'],
        parameter: [DEFINITIONS],
        ...Object.fromEntries(
          [
            'progress',
            'metadata',
            'tool-context',
            'user',
            'option',
            'extra',
            'data',
            'data-url',
            'raw',
          ].map((at) => [at, []]),
        ),
      };

      for (const [place, places] of Object.entries(expected))
        expect(placesOf(place, spans), place).to.deep.equal(places);
    });

    it('records the content of the turn on its span, and of each model call on the span of the call', async () => {
      const { spans } = await capture(mode, turnNamed('success'));
      const textOf = (name: string, attribute: string): readonly string[] =>
        spans
          .filter((span) => span.name === name)
          .map(({ attributes }) => String(attributes[attribute]));

      expect(textOf('invoke_agent', OUTPUT)).to.deep.equal([
        JSON.stringify([
          {
            role: 'assistant',
            parts: [
              { type: 'reasoning', content: secret('reasoning') },
              { type: 'text', content: secret('answer') },
            ],
            finish_reason: 'stop',
          },
        ]),
      ]);
      expect(textOf('invoke_agent', INPUT)[0])
        .to.include(secret('prompt'))
        .and.not.include(secret('preamble'));
      expect(
        textOf('chat scripted', INPUT).map((text) => text.includes(secret('preamble'))),
      ).to.deep.equal([false, true]);
      expect(
        textOf('chat scripted', OUTPUT).map((text) => text.includes(secret('answer'))),
      ).to.deep.equal([false, true]);
      expect(textOf('execute_tool look', ARGUMENTS)).to.deep.equal(
        Array(2).fill(JSON.stringify({ at: secret('argument') })),
      );
      expect(textOf('execute_tool look', 'gen_ai.tool.call.result')[0]).to.equal(
        JSON.stringify({ found: secret('result') }),
      );
    });

    it('records the text of an error, and not its cause and fields', async () => {
      const tools = await capture(mode, turnNamed('tools that fail'));
      const model = await capture(mode, turnNamed('a model that rejects the request'));

      for (const place of ['thrown', 'thrown-text', 'tool-error'])
        expect(placesOf(place, tools.spans), place).to.include('exception.message');
      expect(placesOf('stack', tools.spans)).to.deep.equal(['exception.stacktrace']);
      expect(placesOf('model-error', model.spans)).to.include.members([
        'exception.message',
        'exception.stacktrace',
        'status of invoke_agent',
      ]);
      for (const place of ['cause', 'detail'])
        expect(placesOf(place, tools.spans), place).to.deep.equal([]);
      for (const place of ['cause', 'provider-code', 'provider-message', 'partial-text'])
        expect(placesOf(place, model.spans), place).to.deep.equal([]);
    });

    for (const turn of SECRET_TURNS) {
      it(`records lists by the schemas of the conventions: ${turn.name}`, async () => {
        const { spans, text } = await capture(mode, turn);

        expect(text).to.include(SECRET);
        expect(spans.filter(({ attributes }) => attributes[INPUT] !== undefined)).to.not.be.empty;
        expect(malformedIn(spans)).to.deep.equal([]);
      });

      it(`[F95] [F96] redacts all content: ${turn.name}`, async () => {
        const kinds = new Set<string>();
        const redact = (text: string, kind: RecordedText): string => {
          kinds.add(kind);
          return text.replaceAll(SECRET, '[hidden]');
        };
        const { spans, text } = await capture(mode, turn, { redact });
        const at = text.indexOf(SECRET);

        expect(at < 0 ? '' : text.slice(Math.max(0, at - 200), at + 60)).to.equal('');
        expect(text).to.include('[hidden]');
        expect(malformedIn(spans)).to.deep.equal([]);
        expect(KINDS).to.include.members([...kinds]);
      });
    }

    it('[F95] passes the kind of each text to redact', async () => {
      const kinds = new Map<string, Set<string>>();
      const redact = (text: string, kind: RecordedText): string => {
        for (const [, place = ''] of text.matchAll(
          new RegExp(`${SECRET}-([a-z]+(?:-[a-z]+)*)`, 'g'),
        ))
          kinds.set(place, (kinds.get(place) ?? new Set()).add(kind));
        return text;
      };
      for (const name of ['success', 'tools that fail', 'an unknown tool', 'invalid arguments'])
        await capture(mode, turnNamed(name), { redact });

      for (const [place, kind] of [
        ['system', 'system-instructions'],
        ['prompt', 'message'],
        ['image-url', 'message'],
        ['answer', 'message'],
        ['reasoning', 'message'],
        ['argument', 'tool-arguments'],
        ['invalid', 'tool-arguments'],
        ['earlier-result', 'tool-result'],
        ['description', 'tool-definition'],
        ['parameter', 'tool-definition'],
        ['stack', 'exception'],
        ['thrown', 'exception'],
      ] as const)
        expect([...(kinds.get(place) ?? [])], place).to.include(kind);
      expect([...(kinds.get('result') ?? [])]).to.have.members(['tool-result']);
    });

    it('[F95] redacts text that a model has escaped', async () => {
      const written = SECRET.replace('s', String.raw`\u0073`);
      const turn: SecretTurn = {
        name: 'escapes',
        script: [
          {
            toolCalls: [
              { name: 'look', arguments: `{"at":"${written}"}` },
              { name: 'look', arguments: `{"${written}":1}` },
            ],
          },
          'done',
        ],
      };
      const { spans } = await capture(mode, turn, {
        redact: (text) => text.replaceAll(SECRET, '[hidden]'),
      });

      for (const [place, value] of valuesOf(spans))
        expect(decoded(String(value)), place).to.not.include(SECRET);
      expect(placesOf('prompt', spans)).to.deep.equal([]);
      expect(valuesOf(spans).filter(([, value]) => String(value).includes('[hidden]'))).to.not.be
        .empty;
    });

    it('[F95] omits a text for which redact returns an empty string', async () => {
      const { text, spans } = await capture(mode, turnNamed('tools that fail'), {
        redact: () => '',
      });

      expect(text).to.not.include(SECRET);
      expect(malformedIn(spans)).to.deep.equal([]);
    });

    it('[F96] records no API key, even without redact', async () => {
      const KEY = 'wire-canary-9b21-of-the-server';
      const answers: readonly ((exchange: Exchange) => void)[] = [
        (exchange) =>
          sendJson(exchange, { error: { message: `Incorrect key ${KEY}`, code: KEY } }, 401),
        (exchange) => {
          beginEvents(exchange);
          sendEvent(exchange, chunk({ content: 'one' }));
          sendEvent(exchange, { error: { message: `Incorrect key ${KEY}` } });
          exchange.response.end();
        },
      ];
      for (const answer of answers) {
        const server = await WireServer.start(answer);
        const model = new OpenAIChatModel({
          model: 'm',
          apiKey: KEY,
          baseURL: server.baseURL,
          maxRetries: 0,
        });
        const { text } = await capture(mode, { name: 'key', script: [] }, {}, model);
        await server.close();

        expect(text).to.include('Incorrect key').and.to.not.include(KEY);
      }
    });
  });
