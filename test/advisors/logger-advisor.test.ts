import { Writable } from 'node:stream';
import { expect } from 'chai';
import { pino } from 'pino';
import {
  AdvisorOrder,
  ChatClient,
  defineTool,
  InvalidArgumentError,
  LoggerAdvisor,
  type LogEntry,
  type LoggerAdvisorOptions,
} from '../../src/index.js';
import { ScriptedChatModel, type Script } from '../../src/testing/index.js';
import { unhandledErrorsOf } from '../support/unhandled-errors.js';
import { MODES, type Mode } from '../support/modes.js';
import winston from 'winston';

const SECRET = 'sk-canary-7f3a';

async function textOfStream(stream: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const piece of stream) text += piece;
  return text;
}

/** A logger that keeps what it is given, by level. */
class KeptLog {
  readonly lines: (readonly [level: string, entry: LogEntry])[] = [];
  readonly info = (entry: LogEntry): void => void this.lines.push(['info', entry]);
  readonly debug = (entry: LogEntry): void => void this.lines.push(['debug', entry]);
  readonly error = (entry: LogEntry): void => void this.lines.push(['error', entry]);
}

/** Entries that `console` gets meanwhile, by level. */
async function printedBy(work: () => Promise<unknown>): Promise<readonly [string, unknown][]> {
  const { info, debug, error } = console;
  const printed: [string, unknown][] = [];
  for (const level of ['info', 'debug', 'error'] as const)
    console[level] = (entry: unknown) => void printed.push([level, entry]);
  try {
    await work();
  } finally {
    Object.assign(console, { info, debug, error });
  }
  return printed;
}

const weather = defineTool({ name: 'get_weather', execute: () => `sunny ${SECRET}` });
const TURN: Script = [
  {
    toolCalls: [{ name: 'get_weather', arguments: {} }],
    usage: { inputTokens: 10, outputTokens: 2, totalTokens: 12 },
  },
  { text: `It is sunny ${SECRET}.`, usage: { inputTokens: 20, outputTokens: 5, totalTokens: 25 } },
];

async function run(
  mode: Mode,
  options: LoggerAdvisorOptions,
  script: Script = TURN,
): Promise<unknown> {
  const client = ChatClient.builder(new ScriptedChatModel(script))
    .defaultTools(weather)
    .defaultAdvisors(new LoggerAdvisor(options))
    .build();
  const spec = client.prompt(`Weather? ${SECRET}`).system(SECRET);
  const text = mode === 'call' ? spec.call().content() : textOfStream(spec.stream());
  return text.catch((error: unknown) => error);
}

for (const mode of MODES)
  describe(`LoggerAdvisor, ${mode}`, () => {
    it('[GRD-05] logs one entry per request: once per iteration inside the tool loop', async () => {
      const logger = new KeptLog();
      await run(mode, { logger });

      expect(logger.lines.map(([, { message, iteration }]) => [message, iteration])).to.deep.equal([
        ['chat response', 0],
        ['chat response', 1],
      ]);
    });

    it('prints one line per request to console', async () => {
      const printed = await printedBy(async () => {
        await run(mode, {});
        await run(mode, {}, [new InvalidArgumentError('no')]);
        await run(mode, {}, [new Error(SECRET)]);
      });

      expect(
        printed.map(([level, text]) => [level, String(text).replace(/\d+ ms/, '… ms')]),
      ).to.deep.equal([
        [
          'info',
          'chat response: scripted, iteration 0, … ms, 10 tokens in, 2 out, tool_calls, calls get_weather',
        ],
        ['info', 'chat response: scripted, iteration 1, … ms, 20 tokens in, 5 out, stop'],
        [
          'error',
          'chat failed: scripted, iteration 0, … ms, InvalidArgumentError (invalid_argument)',
        ],
        ['error', 'chat failed: scripted, iteration 0, … ms, Error'],
      ]);
    });

    it('prints one line, whatever name a model gives itself', async () => {
      const printed = await printedBy(() =>
        run(mode, {}, [{ text: 'Hi.', model: 'gpt\nchat failed:\r\n\u2028gpt' }]),
      );

      expect(printed).to.have.lengthOf(1);
      expect(printed[0]?.[1]).to.include('chat response: gpt chat failed: gpt, iteration 0, ');
    });

    it('prints details to console at debug, as entries', async () => {
      const printed = await printedBy(() => run(mode, { level: 'debug' }));

      expect(printed.map(([level, entry]) => [level, (entry as LogEntry).message])).to.deep.equal([
        ['debug', 'chat request'],
        ['debug', 'chat response'],
        ['debug', 'chat request'],
        ['debug', 'chat response'],
      ]);
    });

    it('logs each request and each complete response at debug', async () => {
      const logger = new KeptLog();
      await run(mode, { logger, level: 'debug' });

      const [first] = logger.lines;
      const { turnId } = first?.[1] ?? {};
      const common = { turnId, mode };
      expect(turnId).to.match(/^[0-9a-f]{32}$/);
      expect(
        logger.lines.map(([level, { milliseconds: _time, ...entry }]) => [level, entry]),
      ).to.deep.equal([
        [
          'debug',
          {
            message: 'chat request',
            ...common,
            iteration: 0,
            model: 'scripted',
            messages: 2,
            tools: ['get_weather'],
          },
        ],
        [
          'debug',
          {
            message: 'chat response',
            ...common,
            iteration: 0,
            model: 'scripted',
            finishReason: 'tool_calls',
            toolCalls: ['get_weather'],
            inputTokens: 10,
            outputTokens: 2,
          },
        ],
        [
          'debug',
          {
            message: 'chat request',
            ...common,
            iteration: 1,
            model: 'scripted',
            messages: 4,
            tools: ['get_weather'],
          },
        ],
        [
          'debug',
          {
            message: 'chat response',
            ...common,
            iteration: 1,
            model: 'scripted',
            finishReason: 'stop',
            toolCalls: [],
            inputTokens: 20,
            outputTokens: 5,
          },
        ],
      ]);
      for (const [, { message, milliseconds }] of logger.lines)
        if (message === 'chat response') expect(milliseconds).to.be.at.least(0);
        else expect(milliseconds).to.equal(undefined);
    });

    it('logs one entry per turn at an order before the tool loop', async () => {
      const logger = new KeptLog();
      await run(mode, { logger, order: AdvisorOrder.OBSERVABILITY });

      expect(logger.lines.map(([, { message }]) => message)).to.deep.equal(['chat response']);
      expect(logger.lines[0]?.[1]).to.include({ inputTokens: 30, outputTokens: 7 });
    });

    it('[F95] [F96] logs content only with includeContent', async () => {
      const broken = new Error(`bad key ${SECRET}`);
      const logger = new KeptLog();
      await run(mode, { logger });
      await run(mode, { logger }, [broken]);
      expect(logger.lines).to.have.lengthOf(3);
      expect(JSON.stringify(logger.lines)).not.to.include(SECRET);

      const open = new KeptLog();
      await run(mode, { logger: open, includeContent: true });
      await run(mode, { logger: open, includeContent: true }, [broken]);
      const contents = open.lines.map(([, { content }]) => JSON.stringify(content));
      for (const content of contents)
        expect(content).to.satisfy(
          (text: string) => text.includes(SECRET) || text.includes('get_weather'),
        );
      expect(contents.at(-1)).to.equal(`"bad key ${SECRET}"`);
    });

    it('logs a failure with class and code at the error level, and rethrows it', async () => {
      const failure = new InvalidArgumentError('no');
      const logger = new KeptLog();

      expect(await run(mode, { logger }, [failure])).to.equal(failure);
      expect(logger.lines).to.have.lengthOf(1);
      expect(logger.lines[0]?.[0]).to.equal('error');
      expect(logger.lines[0]?.[1]).to.deep.include({
        message: 'chat failed',
        model: 'scripted',
        error: { name: 'InvalidArgumentError', code: 'invalid_argument' },
      });
    });

    it('logs a cancelled turn', async () => {
      const logger = new KeptLog();
      const controller = new AbortController();
      const stop = defineTool({ name: 'get_weather', execute: () => controller.abort() });
      const spec = ChatClient.create(new ScriptedChatModel(TURN))
        .prompt('Go.')
        .tools(stop)
        .signal(controller.signal)
        .advisors(new LoggerAdvisor({ logger, order: AdvisorOrder.OBSERVABILITY }));
      await (mode === 'call' ? spec.call().content() : textOfStream(spec.stream())).catch(
        () => undefined,
      );
      await new Promise((resolve) => setImmediate(resolve));

      expect(logger.lines.map(([level, { message }]) => [level, message])).to.deep.equal([
        ['info', 'chat cancelled'],
      ]);
    });

    it('[F100] reports errors of logger and format without failing the turn', async () => {
      const error = new Error('disk full');
      const throws = (): never => {
        throw error;
      };
      const rejects = (): Promise<never> => Promise.reject(error);
      for (const options of [
        { logger: { info: throws } },
        { logger: { info: rejects } },
        { logger: new KeptLog(), format: throws },
      ]) {
        const reported = await unhandledErrorsOf(async () =>
          expect(await run(mode, options)).to.equal(`It is sunny ${SECRET}.`),
        );

        expect(reported).to.deep.equal([error, error]);
      }
    });

    it('writes entries as fields through pino and winston', async () => {
      const lines: string[] = [];
      const stream = new Writable({
        write(chunk: Buffer, _encoding, done) {
          lines.push(chunk.toString());
          done();
        },
      });
      await run(mode, { logger: pino({ level: 'debug' }, stream), level: 'debug' });
      await run(mode, {
        logger: winston.createLogger({ transports: [new winston.transports.Stream({ stream })] }),
      });

      const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
      expect(entries.map(({ message }) => message)).to.deep.equal([
        'chat request',
        'chat response',
        'chat request',
        'chat response',
        'chat response',
        'chat response',
      ]);
      expect(entries.map(({ level }) => level)).to.deep.equal([
        ...Array.from({ length: 4 }, () => 20),
        'info',
        'info',
      ]);
      for (const entry of entries) expect(entry).to.include.keys('turnId', 'mode', 'iteration');
    });
  });

describe('LoggerAdvisor', () => {
  it('passes the result of format to the logger', async () => {
    const lines: unknown[] = [];
    const logger = { debug: (line: unknown) => void lines.push(line) };
    await run('call', {
      logger,
      level: 'debug',
      format: ({ message, iteration }) => `${iteration}: ${message}`,
    });

    expect(lines).to.deep.equal([
      '0: chat request',
      '0: chat response',
      '1: chat request',
      '1: chat response',
    ]);
  });

  it('logs failures at the level if the logger has no error method', async () => {
    const lines: unknown[] = [];
    await run('call', { logger: { info: ({ message }: LogEntry) => void lines.push(message) } }, [
      new Error('no'),
    ]);

    expect(lines).to.deep.equal(['chat failed']);
  });

  it('can be in a chain twice with different names', async () => {
    const [turns, iterations] = [new KeptLog(), new KeptLog()];
    const client = ChatClient.builder(new ScriptedChatModel(TURN))
      .defaultTools(weather)
      .defaultAdvisors(
        new LoggerAdvisor({ logger: turns, name: 'turns', order: AdvisorOrder.OBSERVABILITY }),
        new LoggerAdvisor({ logger: iterations }),
      )
      .build();
    await client.prompt('Go.').call().content();

    expect([turns.lines.length, iterations.lines.length]).to.deep.equal([1, 2]);
  });

  for (const [options, message] of [
    [{ logger: {} }, 'logger must be an object with the method "info"'],
    [{ logger: console, level: 'loud' }, 'logger must be an object with the method "loud"'],
    [{ logger: null }, 'logger must be an object'],
    [{ format: 'json' }, 'format must be a function'],
    [{ includeContent: 1 }, 'includeContent must be true or false'],
    [{ order: NaN }, 'order must be a finite number'],
  ] as const)
    it(`rejects options: ${message}`, () => {
      expect(() => new LoggerAdvisor(options as never)).to.throw(
        InvalidArgumentError,
        `LoggerAdvisor: ${message}`,
      );
    });
});
