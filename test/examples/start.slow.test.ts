import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { serveOffline, type OfflineServer } from '../../src/testing/index.js';
import { withoutTimes } from '../support/run-text.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly lines: readonly string[];
}

/** Runs the program as `npm start` does, with this environment alone. */
function start(words: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Run> {
  const child = spawn(process.execPath, ['--import', 'tsx', 'examples/start.ts', ...words], {
    cwd: root,
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  return new Promise((resolve, reject) => {
    child
      .once('error', reject)
      .once('close', (code) => resolve({ code, stdout, stderr, lines: stdout.split('\n') }));
  });
}

/** Output of `--trace` for this turn, without times. */
const TRACE = `
invoke_agent … ms  989 in  108 out  3 iterations, 3 tool calls, stop
└─ advisor turn-watcher … ms                   own … ms
   └─ advisor tool-calling … ms                   own … ms
      ├─ advisor iteration-watcher … ms                   own … ms
      │  └─ chat offline … ms  232 in   37 out  tool_calls, first chunk … ms
      ├─ execute_tool find_flight … ms                   success
      ├─ execute_tool find_hotel … ms                   success
      ├─ advisor iteration-watcher … ms                   own … ms
      │  └─ chat offline … ms  347 in   24 out  tool_calls, first chunk … ms
      ├─ execute_tool trip_cost … ms                   success
      └─ advisor iteration-watcher … ms                   own … ms
         └─ chat offline … ms  410 in   47 out  stop, first chunk … ms
`;

const TURN = [
  'once per turn:      turn-watcher',
  'tool loop:          tool-calling',
  'once per iteration: iteration-watcher > model',
  '  turn-watcher       -> 1 message on the way to the model',
  '  iteration-watcher  -> 1 message on the way to the model',
  '  iteration-watcher  <- asks for 2 tools',
  '  tool call          find_flight {"from":"Berlin","to":"Lisbon"}',
  '  tool call          find_hotel {"city":"Lisbon","nights":3}',
  '  iteration-watcher  -> 4 messages on the way to the model',
  '  iteration-watcher  <- asks for 1 tool',
  '  tool call          trip_cost {"flight_price":240,"hotel_price":270}',
  '  tool result        trip_cost {"total":510,"currency":"EUR"}',
  '  iteration-watcher  -> 6 messages on the way to the model',
  'find_hotel: {"hotel":"Hotel Lisbon","price":270}',
  'trip_cost: {"total":510,"currency":"EUR"}',
  '  iteration-watcher  <- the answer',
  '  turn-watcher       <- the answer',
  'Usage:  989 input + 108 output = 1097 tokens in all iterations',
  'Answer: find_flight: {"airline":"Example Air","price":240}',
];

/** Filters the printed lines, in their order. */
function linesAmong(run: Run, wanted: readonly string[]): readonly string[] {
  return [...new Set(run.lines)]
    .filter((line) => wanted.includes(line))
    .sort((a, b) => run.lines.indexOf(a) - run.lines.indexOf(b));
}

describe('npm start', function () {
  this.slow(5_000);

  it('prints a turn with two parallel tools and a third that needs their results, and exits', async () => {
    const run = await start([]);

    expect(run.stderr).to.equal('');
    expect(run.code).to.equal(0);
    expect(linesAmong(run, TURN)).to.deep.equal(TURN);
    expect(run.lines).to.include('Model:    offline (set OPENAI_API_KEY for a real one)');
    expect(run.stdout.indexOf('tool call          find_hotel')).to.be.lessThan(
      run.stdout.indexOf('tool result'),
    );
  });

  it('prints no colours without a terminal', async () => {
    const run = await start([]);

    expect(run.stdout).not.to.contain('\u001b');
  });

  it('sends the question of the command line', async () => {
    const run = await start(['What does a hotel in Rome', 'cost for 2 nights?']);

    expect(run.code).to.equal(0);
    expect(run.lines).to.include.members([
      'Question: What does a hotel in Rome cost for 2 nights?',
      '  tool call          find_hotel {"city":"Rome","nights":2}',
      'Answer: find_hotel: {"hotel":"Hotel Rome","price":120}',
    ]);
  });

  it('prints a timing tree with --trace', async () => {
    const run = await start(['--trace']);

    expect(run.stderr).to.equal('');
    expect(run.code).to.equal(0);
    expect(linesAmong(run, TURN.slice(1))).to.deep.equal(TURN.slice(1));
    expect(run.lines).to.include('once per turn:      observability > turn-watcher');
    expect(withoutTimes(run.stdout).split('\n\nThe trace\n')[1]).to.equal(TRACE.trimStart());
  });

  it('accepts a question with --trace', async () => {
    const run = await start(['--trace', 'What does a hotel in Rome cost for 2 nights?']);

    expect(run.lines).to.include('Question: What does a hotel in Rome cost for 2 nights?');
    expect(run.stdout).to.match(/─ execute_tool find_hotel .* success\n/);
  });

  it('shows the turn on the page of an inspector with --inspect, until Ctrl-C', async () => {
    const args = ['--import', 'tsx', 'examples/start.ts', '--inspect'];
    const child = spawn(process.execPath, args, {
      cwd: root,
      env: { PATH: process.env['PATH'] },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = new Promise((resolve) =>
      child.once('close', (...codes) => resolve(codes.join())),
    );
    const address = await new Promise<URL>((resolve, reject) => {
      let printed = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        printed += text;
        const [, found] = /Inspector: (http:\S+)\s/.exec(printed) ?? [];
        if (found !== undefined) resolve(new URL(found));
      });
      child.once('close', () => reject(new Error(`it has ended: ${printed}`)));
    });
    const headers = { 'x-inspector-token': address.searchParams.get('token') ?? '' };

    const events = await fetch(`${address.origin}/api/events`, { headers });
    const first = await events.body?.getReader().read();

    const hello = new TextDecoder().decode(first?.value);
    expect(hello).to.include('"type":"hello"').and.include('"toolCalls":3');
    expect(hello).to.include('"outcome":"answered"');
    child.kill('SIGINT');
    expect(await ended).to.equal('0,');
  });

  it('prints a timing tree when the turn fails', async () => {
    const server = await serveOffline();
    await server.close();

    const run = await start(['--trace'], {
      OPENAI_API_KEY: 'test',
      OPENAI_BASE_URL: server.baseURL,
    });

    expect(run.code).to.equal(1);
    expect(run.stderr).to.match(/^Error: The server at http:\S+ could not be reached: .*\n$/);
    expect(run.stdout).to.match(/\ninvoke_agent .* 1 iteration, 0 tool calls, error \w+\n/);
  });

  it('prints one line and exits with 1 when the model cannot be reached', async () => {
    const server = await serveOffline();
    await server.close();

    const run = await start([], { OPENAI_API_KEY: 'test', OPENAI_BASE_URL: server.baseURL });

    expect(run.code).to.equal(1);
    expect(run.stderr).to.match(/^Error: The server at http:\S+ could not be reached: .*\n$/);
  });

  describe('with OPENAI_API_KEY', () => {
    let server: OfflineServer;

    beforeEach(async () => {
      server = await serveOffline();
    });

    afterEach(() => server.close());

    it('runs the same turn with the model at OPENAI_BASE_URL', async () => {
      const run = await start([], {
        OPENAI_API_KEY: 'test',
        OPENAI_BASE_URL: server.baseURL,
        OPENAI_MODEL: 'some-model',
      });

      expect(run.stderr).to.equal('');
      expect(run.code).to.equal(0);
      expect(linesAmong(run, TURN)).to.deep.equal(TURN);
      expect(run.lines).to.include('Model:    some-model');
      expect(server.requests.map(({ body }) => body)).to.have.length(3);
      expect(server.requests[0]?.body).to.include({ model: 'some-model', stream: true });
    });
  });
});
