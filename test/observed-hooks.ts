import { relative, sep } from 'node:path';
import { context, diag, DiagLogLevel, type DiagLogger } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import type { RootHookObject } from 'mocha';
import { defer, tap } from 'rxjs';
import { CancelledError, ChatClient, ObservabilityAdvisor, type Advisor } from '../src/index.js';
import { loadOpenTelemetry } from '../src/observability/open-telemetry.js';
import { useContextManager } from './observability/spans.js';
import { LEFT_OUT, type LeftOut } from './observed-left-out.js';
import { isTurn, Watch, type TurnEnd } from './observed-watch.js';
import { observers } from './observers.js';

// Required besides test/hooks.ts, this file puts an ObservabilityAdvisor in front of every client and chain of the tests, and fails a test
// whose spans are not as they must be. That the test passes at all shows that what is observed behaves as it does otherwise.

/** Tasks that a run may take to end after its test has ended. */
const MAX_ROUNDS = 1_000;

let watch = new Watch();
const counts = { tests: 0, turns: 0, spans: 0 };
/** Tests that were left out, and how many. */
const leftOut = new Map<LeftOut, number>();
const files: string[] = [];

const tracer = { startSpan: (...args: Parameters<Watch['start']>) => watch.start(...args) };
const observability = new ObservabilityAdvisor({ tracer, captureContent: true });
const observer: Advisor = {
  name: 'observer', // tests have an ObservabilityAdvisor of their own
  order: Number.MIN_SAFE_INTEGER,
  advise: (request, chain) =>
    defer(() => {
      let hasAnswered = false;
      const own = watch;
      own.begins();
      const ended = (how: TurnEnd): void => own.ended(request.turnId, how);
      return observability.advise(request, chain).pipe(
        tap({
          next: ({ type }) => {
            if (type === 'response') hasAnswered = true;
          },
          complete: () => ended(hasAnswered ? 'success' : 'error'),
          error: (error) => ended(error instanceof CancelledError ? 'cancelled' : 'error'),
          // who has the response need not wait for the end
          unsubscribe: () => ended(hasAnswered ? 'success' : 'cancelled'),
        }),
      );
    }),
};
observers.push(observer);
const { builder } = ChatClient;
ChatClient.builder = (model) => builder(model).defaultAdvisors(observer);
ChatClient.create = (model) => ChatClient.builder(model).build();

const ignore = (): void => undefined;
const logger: DiagLogger = {
  error: (message, ...details) => void watch.reports.push([message, ...details.map(textOf)].join(' ')),
  warn: ignore,
  info: ignore,
  debug: ignore,
  verbose: ignore,
};

function textOf(detail: unknown): string {
  return detail instanceof Error ? (detail.stack ?? detail.message) : String(detail);
}

export const mochaHooks: RootHookObject = {
  async beforeAll() {
    // a turn that begins before the package is there waits for it, and would not be synchronous
    await loadOpenTelemetry();
  },

  beforeEach(this: Mocha.Context) {
    const reason = leftOutOf(this.currentTest);
    if (reason) {
      leftOut.set(reason, (leftOut.get(reason) ?? 0) + 1);
      this.skip();
    }
    watch = new Watch();
    diag.setLogger(logger, { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true });
    useContextManager();
  },

  async afterEach(this: Mocha.Context) {
    if (this.currentTest?.isPending()) return;
    for (let round = 0; round < MAX_ROUNDS && watch.hasOpen; round++) await new Promise((resolve) => setImmediate(resolve));
    context.disable();
    diag.disable();
    count(watch.spans);
    const { problems } = watch;
    // what a test that failed leaves open says nothing
    if (problems.length === 0 || this.currentTest?.isFailed()) return;
    (this.test as Mocha.Hook).error(new Error(`the spans are wrong:\n${problems.slice(0, 20).join('\n')}`));
  },

  afterAll() {
    console.log(`\n  observed: ${counts.spans} spans of ${counts.turns} turns of ${counts.tests} tests`);
    for (const [{ file, title = 'all', why }, tests] of leftOut) console.log(`  left out: ${tests} of ${file}: ${title}: ${why}`);
    const unknown = LEFT_OUT.filter((each) => !leftOut.has(each) && files.some((file) => file.startsWith(each.file)));
    if (unknown.length > 0) throw new Error(`test/observed-left-out.ts has what is not there:\n${JSON.stringify(unknown, undefined, 2)}`);
    if (counts.spans === 0) throw new Error('not one span was recorded');
  },
};

function count(spans: readonly ReadableSpan[]): void {
  counts.tests += spans.length > 0 ? 1 : 0;
  counts.turns += spans.filter(isTurn).length;
  counts.spans += spans.length;
}

function leftOutOf(test: Mocha.Test | undefined): LeftOut | undefined {
  const file = relative(process.cwd(), test?.file ?? '').replaceAll(sep, '/');
  if (files.at(-1) !== file) files.push(file);
  return LEFT_OUT.find(({ file: start, title = '' }) => file.startsWith(start) && test?.fullTitle().includes(title));
}
