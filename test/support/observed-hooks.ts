import { context, diag, DiagLogLevel, type DiagLogger } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import type { RootHookObject } from 'mocha';
import { defer, tap } from 'rxjs';
import { ChatClient, ObservabilityAdvisor, type Advisor } from '../../src/index.js';
import { isCancellation } from '../../src/core/errors/error-type.js';
import { loadOpenTelemetry } from '../../advisors/observability/open-telemetry.js';
import { useContextManager } from './recorded-spans.js';
import { isTurn, Watch, type TurnEnd } from './observed-watch.js';
import { observers } from './observers.js';

// Required besides hooks.ts, this file adds an ObservabilityAdvisor to every client and chain of the tests, and fails a test with
// incorrect spans. A passing test shows that observed turns behave like others.

/** Maximum number of tasks that a run may take to end after its test. */
const MAX_ROUNDS = 1_000;

let watch = new Watch();
const counts = { tests: 0, turns: 0, spans: 0 };

const tracer = { startSpan: (...args: Parameters<Watch['startSpan']>) => watch.startSpan(...args) };
const observability = new ObservabilityAdvisor({ tracer, captureContent: true });
const observer: Advisor = {
  name: 'observer', // tests have an ObservabilityAdvisor of their own
  order: Number.MIN_SAFE_INTEGER,
  advise: (request, chain) =>
    defer(() => {
      let hasAnswered = false;
      const own = watch;
      own.startTurn();
      const ended = (how: TurnEnd): void => own.endTurn(request.turnId, how);
      return observability.advise(request, chain).pipe(
        tap({
          next: ({ type }) => {
            if (type === 'response') hasAnswered = true;
          },
          complete: () => ended(hasAnswered ? 'success' : 'error'),
          error: (error) => ended(isCancellation(error) ? 'cancelled' : 'error'),
          // a subscriber that has the response need not wait for the end
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
  error: (message, ...details) =>
    void watch.reports.push([message, ...details.map(textOf)].join(' ')),
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
    // a turn that starts before the package is loaded is not synchronous
    await loadOpenTelemetry();
  },

  beforeEach() {
    watch = new Watch();
    diag.setLogger(logger, { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true });
    useContextManager();
  },

  async afterEach(this: Mocha.Context) {
    for (let round = 0; round < MAX_ROUNDS && watch.hasOpen; round++)
      await new Promise((resolve) => setImmediate(resolve));
    context.disable();
    diag.disable();
    count(watch.spans);
    const { problems } = watch;
    // open spans of a failed test are no further failure
    if (problems.length === 0 || this.currentTest?.isFailed()) return;
    (this.test as Mocha.Hook).error(
      new Error(`incorrect spans:\n${problems.slice(0, 20).join('\n')}`),
    );
  },

  afterAll() {
    console.log(
      `\n  observed: ${counts.spans} spans of ${counts.turns} turns of ${counts.tests} tests`,
    );
    if (counts.spans === 0) throw new Error('no span was recorded');
  },
};

function count(spans: readonly ReadableSpan[]): void {
  counts.tests += spans.length > 0 ? 1 : 0;
  counts.turns += spans.filter(isTurn).length;
  counts.spans += spans.length;
}
