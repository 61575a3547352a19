import { spawnSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { build } from 'esbuild';
import { withoutTimes } from '../support/run-text.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Below node_modules, where Node.js finds the packages of the project. */
const bundled = join(root, `node_modules/.cache/advisor-chain/examples-${process.pid}`);

/** Lines that an example must print. */
const EXPECTED: Readonly<Record<string, readonly string[]>> = {
  '01-first-call.ts': ['content: Rome.', 'entity:  Milan has 1,371,000 people'],
  '02-tools.ts': [
    'call: Rome is warmer: 24 °C against 9 °C in Oslo.',
    '  tool-call  get_weather({"city":"Oslo"})',
    '  tool-result  {"city":"Rome","temperature":24,"unit":"C"}',
    '  response  Rome is warmer: 24 °C against 9 °C in Oslo.',
  ],
  '03-your-own-advisor.ts': [
    'turn      < You have 120 €.',
    'iteration > user, assistant, tool',
    'The model read: My card is ****. What is my balance?',
    'The caller got: You have 120 €. (redacted: true)',
  ],
  '04-streaming.ts': [
    'Observable:  The quick brown fox jumps over the lazy dog.',
    'for await:   The quick brown fox ',
    'web stream:  The quick brown fox jumps over the lazy dog.',
    'cancelled:   The quick brown fox … CancelledError: The run was cancelled by its signal. Error: the stop button was pressed',
    'The model was asked 4 times, and 2 answers were cancelled.',
  ],
  '05-user-controlled-loop.ts': [
    'run    list_files({})',
    'refuse delete_file({"name":"old.log"})',
    'answer You do not want old.log to be deleted, so nothing was changed.',
  ],
  '06-tools-from-a-class.ts': [
    'tools: add (Puts something into the basket.), list (What is in the basket.), price_of (Price of an item in euros.)',
    'lamp is in the basket (call add_lamp)',
    '["lamp","cable"]',
  ],
  '07-tools-from-elsewhere.ts': [
    '"forecast" #/properties/place/type: "tuple" is not a type of JSON Schema; changed it to {"type":"array"}',
    'the model reads: The arguments of "weather_forecast" are not valid:',
    'the model reads: 3 days of sun at 41.9,12.5 for Anna',
  ],
  '08-tool-results.ts': [
    'progress  testing',
    'result    model: true [text]  application: {"green":true,"log":"… 2,000 lines …"}',
    'result    model: The last builds: [text, image]  application: {"builds":3}',
  ],
  '09-tools-with-effects.ts': [
    '1: anna has 40 € now',
    '2: anna has not enough money',
    '3: 60',
    '4: The tool "broken" failed. Error id: 4',
  ],
  '10-augmented-tools.ts': [
    'get_weather: They go there tomorrow. (90 % sure)',
    'the tool got {"city":"Oslo"}',
  ],
  '11-chat-memory.ts': [
    'anna-1: What is my name? -> You are Anna.',
    'ben-1: What is my name? -> I do not know you.',
    "conversations: [ 'anna-1', 'ben-1' ]",
    'anna-1 has version 4: user, assistant, user, assistant',
  ],
  '12-memory-inside-the-loop.ts': [
    'once per iteration: chat-memory > model',
    'Stored all the same: user, assistant, tool, assistant, tool, assistant',
    'The next turn: It is on page 2.',
    '  tool      [An old result of 508 characters was removed. Call the tool again if it is needed.]',
    '  tool      Interrupted: this call has no result. It may or may not have been carried out.',
  ],
  '13-tool-search.ts': [
    '540 tools',
    '  found archive_invoice, get_invoice, list_invoice',
    '  found export_playlist, get_playlist, list_playlist',
    '  calls archive_invoice {"name":"April"}',
  ],
  '14-observability.ts': [
    'Your parcel is in Rome.',
    'invoke_agent parcels … ms  2,462 in  22 out  2 iterations, 1 tool call, stop',
    '└─ advisor chat-memory … ms                    own … ms',
    '   └─ advisor tool-calling … ms                    own … ms',
    '      ├─ chat scripted … ms  1,210 in  15 out  tool_calls, first chunk … ms',
    '      ├─ execute_tool find_parcel … ms                    success',
    '      │  └─ * retry: type Error, attempt 1',
    '      └─ chat scripted … ms  1,252 in   7 out  stop, first chunk … ms',
    'conversation: anna-7, spans: 6',
  ],
  '19-side-effects-once.ts': [
    '  event: tool-cache {"toolName":"find_order","callId":"find_order_3","outcome":"hit"}',
    '  event: tool-ledger {"toolName":"refund","callId":"refund_4","outcome":"replayed"}',
    '  event: tool-ledger {"toolName":"refund","callId":"refund_8","outcome":"unknown"}',
    '  event: dry-run {"toolName":"refund","callId":"refund_10","arguments":{},"answeredBy":"function"}',
  ],
  '15-failures.ts': [
    'booked: room 7',
    'void:   the text of this iteration',
    'answer: Room 7 is booked.',
    '  iteration 0, attempt 1: main failed',
    '  iteration 0, attempt 2: main answered',
    '  iteration 1, attempt 3: other answered',
    'stall:  ModelTimeoutError: The answer did not arrive within 50 ms (option iteration).',
  ],
  '16-guards.ts': [
    'stream: Your key is [anthropic-key], and your card [card].',
    'guard:  tool-result of fetch_page: mark (ignore-instructions, exfiltration)',
    'guard:  tool-call of send_mail: refuse (untrusted-content)',
    'answer: It is 24 °C in Rome. The page asks for a mail; shall I send one?',
    'The model was asked 4 times.',
  ],
  '17-long-turns.ts': [
    'offloaded: 62889 characters of read_log',
    'read back: line 2346, offset 36410: line 2345: fine',
    'shortened: 4076 to 1910 tokens by clear',
    'shortened: 4100 to 1629 tokens by clear, summarize',
    'answer:    The report is fine.',
  ],
  '18-steering.ts': [
    'outcome: I prefer a hostel. {"status":"delivered","iteration":1}',
    'tool:    compare_prices cancelled',
    'outcome: Never mind the price. {"status":"delivered","iteration":2}',
    'outcome: Write to my mother afterwards. {"status":"deferred"}',
    'stored:  user Write to my mother afterwards.',
  ],
  '21-one-turn-at-a-time.ts': [
    'wait:      I have read 1 messages. I have read 3 messages.',
    'older:     cancelled: A newer turn of the conversation has interrupted this one. The newer turn has the answer.',
    'newer:     I have read 5 messages.',
    'limit:     4 requests per minute of "scripted"',
  ],
  '20-budget.ts': [
    'cache:   system by "clock", 2507 tokens read again',
    'ask:     0.052 is spent, continue?',
    'ask:     0.104 is spent, continue?',
    'cache:   tools by "budget", 2561 tokens read again',
    'warning: 0.130 of 0.150',
    'answer:  Here is what I have found on 5 pages.',
  ],
  'approval.ts': [
    '  remove: removed draft.txt',
    '  remove: Not run: the user denied this call of "remove". Reason: keep my photos',
    '  remove: removed notes.old.md',
    'left: photo.jpg, notes.md, taxes.pdf',
  ],
  'approval-two-processes.ts': [
    'first: waits for pay {"to":"ben","euros":90}',
    'second: pays 90 euros to anna',
    'second: pays 9 euros to ben',
    'second: All bills are settled.',
  ],
  'agent-tool.ts': [
    '  sources   iteration-start scripted',
    '  sources   tool-call find({"topic":"rain"})',
    'result      {"summary":"Rain is water.","sources":["weather.example"]}',
    'answer      Rain is water (weather.example).',
    'model calls 4, 1,300 tokens',
  ],
  'ai-sdk.ts': [
    'call:   get_weather({"city":"Rome"})',
    'answer: get_weather: sunny, 24 °C',
    "AI SDK: [ { type: 'text', text: 'get_weather: sunny, 24 °C' } ]",
  ],
  'anthropic.ts': [
    'returned: thinking, tool_use',
    'thinking: I need the weather in Rome.',
    'answer:   It is 24 °C in Rome.',
    'input:    640 tokens, 600 of them from the cache',
  ],
  'cohere.ts': [
    'server:  2 documents',
    'answer:  The museum opens at 10 and a ticket is 12 euros.',
    '"opens at 10" from opening',
    '"12 euros" from prices',
  ],
  'durable.ts': [
    'first: refund runs with the key a0c388e013a9a3dcc7f2e6fa67da3a947c5e51d5c920da44441252ebddb2f379',
    'The process was killed while the tool ran; a second one continues:',
    'second: answer: The 40 € are on their way back to you.',
    'second: steps: model 0, tool find_order call_1, model 1, tool refund call_2, model 2',
  ],
  'google.ts': [
    'thinks: I need the weather.',
    'calls:  get_weather({"city":"Rome"})',
    'server: the result came with 1 signature',
    'answer: In Rome it is sunny, 24 °C.',
  ],
  'graceful-shutdown.ts': [
    'SIGTERM: 2 turns are running',
    'short: It is done.',
    'long: cancelled',
    '0 turns are running',
  ],
  'inspector.ts': [
    'iteration 1 got 6 messages',
    '  tool-calling: message-added, message-added',
    '  tone: message-changed',
    'opened in another inspector: 2 turns',
  ],
  'mcp.ts': [
    'left out: closed',
    'progress: {"progress":1,"message":"counting every lamp"}',
    'result: lamp: 7',
    'answer: There are seven lamps.',
    'offered: warehouse_stock, Number of items in the warehouse.',
  ],
  'ollama.ts': [
    'server: think true, context of 8192 tokens',
    'thinks: I need the weather.',
    'calls:  get_weather({"city":"Rome"})',
    'answer: In Rome it is sunny, 24 °C.',
    'which took 0.4 s to write',
  ],
  'openai-responses.ts': [
    'returned:  reasoning, function_call, function_call_output',
    'reasoning: I need the weather in Rome.',
    'answer:    It is 24 °C in Rome.',
    'source:    https://weather.example/rome',
  ],
  'prompted-tools.ts': [
    '  found archive_invoice',
    '  calls archive_invoice {"month":"March"}',
    '  That is done: "archive invoice of March". (4 requests)',
    '  calls archive_invoice {"month":"April"}',
    '  That is done: "archive invoice of April". (3 requests)',
  ],
  'knowledge.ts': [
    'again: 0 changes',
    "found: approvals.md [ 'Approvals', 'Paused turns', 'Found by the conversation' ]",
    '1 citation, of approvals.md',
  ],
  'many-requests.ts': [
    '[############........] 300/500, 0 failed, cost 0.0660',
    '500 of 500, 0 failed, cost 0.1100: finished',
  ],
  'reasoning.ts': [
    'thinks  2 cans of 3',
    'answers He has',
    'message 2 cans of 3 are 6, and 5.',
    'Read the question again: Roger has 5 balls and buys 2 cans of 3. How many has he now?',
  ],
};

describe('examples/', function () {
  this.slow(5_000);

  // bundled: loading all sources takes a process longer than most examples
  before(async () => {
    await build({
      entryPoints: Object.keys(EXPECTED).map((file) => join(root, 'examples', file)),
      outdir: bundled,
      outExtension: { '.js': '.mjs' },
      bundle: true,
      splitting: true,
      platform: 'node',
      format: 'esm',
      target: 'node20',
      packages: 'external',
      logLevel: 'error',
    });
  });
  after(() => rmSync(bundled, { recursive: true, force: true }));

  it('are all tested', () => {
    const others = readdirSync(new URL('../../examples', import.meta.url)).filter(
      (file) => file.endsWith('.ts') && file !== 'start.ts',
    );

    expect(others.sort()).to.deep.equal(Object.keys(EXPECTED).sort());
  });

  for (const [file, lines] of Object.entries(EXPECTED)) {
    it(`${file} runs offline, exits and prints its results`, () => {
      // no proxy listens on port 9: requests to the network fail
      const offline = { PATH: process.env['PATH'], HTTPS_PROXY: 'http://127.0.0.1:9' };

      const run = spawnSync(process.execPath, [join(bundled, file.replace(/ts$/, 'mjs'))], {
        cwd: root,
        encoding: 'utf8',
        env: offline,
      });

      expect(run.status, run.stderr).to.equal(0);
      expect(run.stderr).to.equal('');
      expect(withoutTimes(run.stdout).split('\n')).to.include.members(lines);
    });
  }
});
