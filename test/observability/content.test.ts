import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { expect } from 'chai';
import { ObservabilityAdvisor, type ChatModel, type ObservabilityAdvisorOptions, type RecordedText } from '../../src/index.js';
import { OpenAIChatModel } from '../../src/models/openai/index.js';
import { beginEvents, chunk, sendEvent, sendJson, WireServer, type Exchange } from '../integration/wire-server.js';
import { MODES, type Mode } from '../advisors/turn.js';
import { malformedIn } from './conventions.js';
import { everythingIn, exportedOf, recordMetrics, valuesOf } from './records.js';
import { runSecretTurn, SECRET, secret, SECRET_TURNS, type SecretTurn } from './secret-turns.js';
import { recordSpans } from './spans.js';

const SAID_AS: readonly RecordedText[] = [
  'message',
  'system-instructions',
  'tool-definition',
  'tool-arguments',
  'tool-result',
  'exception',
];

interface Captured {
  readonly spans: readonly ReadableSpan[];
  /** Everything, metrics as well. */
  readonly text: string;
}

async function capture(mode: Mode, turn: SecretTurn, options: ObservabilityAdvisorOptions = {}, model?: ChatModel): Promise<Captured> {
  const recording = recordSpans();
  const { meter, collect } = recordMetrics();
  const observer = new ObservabilityAdvisor({ tracer: recording.tracer, meter, captureContent: true, ...options });
  await runSecretTurn(mode, turn, [observer], model);
  return { spans: recording.spans, text: everythingIn([recording.spans.map(exportedOf), await collect()]) };
}

function turnNamed(name: string): SecretTurn {
  const turn = SECRET_TURNS.find((one) => one.name === name);
  if (!turn) throw new Error(`no turn ${name}`);
  return turn;
}

/** Where in spans the secret of a place is. */
function placesOf(place: string, spans: readonly ReadableSpan[]): readonly string[] {
  return [...new Set(valuesOf(spans).flatMap(([at, value]) => (String(value).includes(secret(place)) ? [at] : [])))].toSorted();
}

/** What a reader sees of a text, which may be JSON. */
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
  describe(`content of a ${mode}, where it is to be captured`, () => {
    it('is where the conventions put it, and nowhere else', async () => {
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
          ['progress', 'metadata', 'tool-context', 'user', 'option', 'extra', 'data', 'data-url', 'raw'].map((at) => [at, []]),
        ),
      };

      for (const [place, places] of Object.entries(expected)) expect(placesOf(place, spans), place).to.deep.equal(places);
    });

    it('is that of the whole turn in its span, and of each model call in the span of that', async () => {
      const { spans } = await capture(mode, turnNamed('success'));
      const textOf = (name: string, attribute: string): readonly string[] =>
        spans.filter((span) => span.name === name).map(({ attributes }) => String(attributes[attribute]));

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
      expect(textOf('invoke_agent', INPUT)[0]).to.include(secret('prompt')).and.not.include(secret('preamble'));
      expect(textOf('chat scripted', INPUT).map((text) => text.includes(secret('preamble')))).to.deep.equal([false, true]);
      expect(textOf('chat scripted', OUTPUT).map((text) => text.includes(secret('answer')))).to.deep.equal([false, true]);
      expect(textOf('execute_tool look', ARGUMENTS)).to.deep.equal(Array(2).fill(JSON.stringify({ at: secret('argument') })));
      expect(textOf('execute_tool look', 'gen_ai.tool.call.result')[0]).to.equal(JSON.stringify({ found: secret('result') }));
    });

    it('is the text of an error, and not what is attached to it', async () => {
      const tools = await capture(mode, turnNamed('tools that fail'));
      const model = await capture(mode, turnNamed('a model that refuses'));

      for (const place of ['thrown', 'thrown-text', 'tool-error'])
        expect(placesOf(place, tools.spans), place).to.include('exception.message');
      expect(placesOf('stack', tools.spans)).to.deep.equal(['exception.stacktrace']);
      expect(placesOf('model-error', model.spans)).to.include.members([
        'exception.message',
        'exception.stacktrace',
        'status of invoke_agent',
      ]);
      for (const place of ['cause', 'detail']) expect(placesOf(place, tools.spans), place).to.deep.equal([]);
      for (const place of ['cause', 'provider-code', 'provider-message', 'partial-text'])
        expect(placesOf(place, model.spans), place).to.deep.equal([]);
    });

    for (const turn of SECRET_TURNS) {
      it(`has the form of the conventions: ${turn.name}`, async () => {
        const { spans, text } = await capture(mode, turn);

        expect(text).to.include(SECRET);
        expect(spans.filter(({ attributes }) => attributes[INPUT] !== undefined)).to.not.be.empty;
        expect(malformedIn(spans)).to.deep.equal([]);
      });

      it(`[F95] [F96] passes redact, all of it: ${turn.name}`, async () => {
        const saidAs = new Set<string>();
        const redact = (text: string, as: RecordedText): string => {
          saidAs.add(as);
          return text.replaceAll(SECRET, '[hidden]');
        };
        const { spans, text } = await capture(mode, turn, { redact });
        const at = text.indexOf(SECRET);

        expect(at < 0 ? '' : text.slice(Math.max(0, at - 200), at + 60)).to.equal('');
        expect(text).to.include('[hidden]');
        expect(malformedIn(spans)).to.deep.equal([]);
        expect(SAID_AS).to.include.members([...saidAs]);
      });
    }

    it('[F95] tells redact what each text was said as', async () => {
      const told = new Map<string, Set<string>>();
      const redact = (text: string, as: RecordedText): string => {
        for (const [, place = ''] of text.matchAll(new RegExp(`${SECRET}-([a-z]+(?:-[a-z]+)*)`, 'g')))
          told.set(place, (told.get(place) ?? new Set()).add(as));
        return text;
      };
      for (const name of ['success', 'tools that fail', 'a tool that was made up', 'arguments that do not fit'])
        await capture(mode, turnNamed(name), { redact });

      for (const [place, as] of [
        ['system', 'system-instructions'],
        ['prompt', 'message'],
        ['image-url', 'message'],
        ['answer', 'message'],
        ['reasoning', 'message'],
        ['argument', 'tool-arguments'],
        ['misfit', 'tool-arguments'],
        ['earlier-result', 'tool-result'],
        ['description', 'tool-definition'],
        ['parameter', 'tool-definition'],
        ['stack', 'exception'],
        ['thrown', 'exception'],
      ] as const)
        expect([...(told.get(place) ?? [])], place).to.include(as);
      expect([...(told.get('result') ?? [])]).to.have.members(['tool-result']);
    });

    it('[F95] passes redact as it is read, however the model writes it', async () => {
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
      const { spans } = await capture(mode, turn, { redact: (text) => text.replaceAll(SECRET, '[hidden]') });

      for (const [place, value] of valuesOf(spans)) expect(decoded(String(value)), place).to.not.include(SECRET);
      expect(placesOf('prompt', spans)).to.deep.equal([]);
      expect(valuesOf(spans).filter(([, value]) => String(value).includes('[hidden]'))).to.not.be.empty;
    });

    it('[F95] is left out where redact gives an empty text', async () => {
      const { text, spans } = await capture(mode, turnNamed('tools that fail'), { redact: () => '' });

      expect(text).to.not.include(SECRET);
      expect(malformedIn(spans)).to.deep.equal([]);
    });

    it('[F96] has no key of the server, also without redact', async () => {
      const KEY = 'wire-canary-9b21-of-the-server';
      const answers: readonly ((exchange: Exchange) => void)[] = [
        (exchange) => sendJson(exchange, { error: { message: `Incorrect key ${KEY}`, code: KEY } }, 401),
        (exchange) => {
          beginEvents(exchange);
          sendEvent(exchange, chunk({ content: 'one' }));
          sendEvent(exchange, { error: { message: `Incorrect key ${KEY}` } });
          exchange.response.end();
        },
      ];
      for (const answer of answers) {
        const server = await WireServer.start(answer);
        const model = new OpenAIChatModel({ model: 'm', apiKey: KEY, baseURL: server.baseURL, maxRetries: 0 });
        const { text } = await capture(mode, { name: 'key', script: [] }, {}, model);
        await server.close();

        expect(text).to.include('Incorrect key').and.to.not.include(KEY);
      }
    });
  });
