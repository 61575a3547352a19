import { expect } from 'chai';
import {
  AdvisorOrder,
  ChatClient,
  InvalidArgumentError,
  ReReadingAdvisor,
  RetryAdvisor,
} from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { unhandledErrorsOf } from '../../support/unhandled-errors.js';

const outside = new RetryAdvisor({ order: AdvisorOrder.RETRIEVAL });
const REPEATS = 'advisor-chain: "retry" retries left of the tool loop: finished tools run again; give it an order above TOOL_CALLING'; // prettier-ignore
const builder = () =>
  ChatClient.builder(new ScriptedChatModel(() => 'Hi.')).defaultAdvisors(outside);

/** A logger that keeps what it is given. */
class KeptWarnings {
  readonly texts: string[] = [];
  readonly warn = (text: string): void => void this.texts.push(text);
}

describe('the warnings of a client', () => {
  const { warn } = console;
  const { NODE_ENV } = process.env;
  let printed = new KeptWarnings();

  beforeEach(() => {
    printed = new KeptWarnings();
    console.warn = printed.warn;
    process.env['NODE_ENV'] = 'development';
  });
  afterEach(() => {
    console.warn = warn;
    if (NODE_ENV === undefined) delete process.env['NODE_ENV'];
    else process.env['NODE_ENV'] = NODE_ENV;
  });

  it('are printed when it is built, each with what to do', () => {
    builder().build();

    expect(printed.texts).to.deep.equal([REPEATS]);
  });

  it('are printed where NODE_ENV is not set', () => {
    delete process.env['NODE_ENV'];
    builder().build();

    expect(printed.texts).to.deep.equal([REPEATS]);
  });

  it('are printed once: neither by requests, nor by clients of mutate()', async () => {
    const client = builder().build();
    await client.prompt('?').call().content();
    await client.prompt('?').stream().finalResponse();
    client.mutate().defaultSystem('S').build();
    client.prompt('?').mutate().build();

    expect(printed.texts).to.deep.equal([REPEATS]);
  });

  it('are printed by a client of mutate() if they are new', () => {
    const right = new ReReadingAdvisor({ order: AdvisorOrder.RETRIEVAL });
    const other = new RetryAdvisor({ name: 'other', order: AdvisorOrder.RETRIEVAL });
    builder().build().mutate().defaultAdvisors(right, other).build();

    expect(printed.texts).to.deep.equal([REPEATS, REPEATS.replace('"retry"', '"other"')]);
  });

  it('are not printed of a chain without any', () => {
    ChatClient.builder(new ScriptedChatModel([])).defaultAdvisors(new RetryAdvisor()).build();

    expect(printed.texts).to.deep.equal([]);
  });

  it('are not printed in production', () => {
    process.env['NODE_ENV'] = 'production';
    builder().build();

    expect(printed.texts).to.deep.equal([]);
  });

  it('are not printed on a platform without a process', () => {
    const { process: own } = globalThis;
    Object.assign(globalThis, { process: undefined });
    try {
      builder().build();
    } finally {
      Object.assign(globalThis, { process: own });
    }

    expect(printed.texts).to.deep.equal([]);
  });

  it('go to a logger, in production too', () => {
    process.env['NODE_ENV'] = 'production';
    const logger = new KeptWarnings();
    builder().warnings(logger).build();

    expect([logger.texts, printed.texts]).to.deep.equal([[REPEATS], []]);
  });

  it('go nowhere if that is wanted, nor of clients of mutate()', () => {
    builder().warnings(false).build().mutate().build();

    expect(printed.texts).to.deep.equal([]);
  });

  it('do not fail a client whose logger fails', async () => {
    const error = new Error('disk full');
    const logger = {
      warn: () => {
        throw error;
      },
    };

    expect(await unhandledErrorsOf(async () => void builder().warnings(logger).build())).to.deep.equal([error]); // prettier-ignore
  });

  for (const logger of [true, undefined, {}, 'console'])
    it(`rejects a logger: ${JSON.stringify(logger)}`, () => {
      expect(() => builder().warnings(logger as never)).to.throw(
        InvalidArgumentError,
        'warnings(…): logger must be false, or a logger with the method warn',
      );
    });
});
