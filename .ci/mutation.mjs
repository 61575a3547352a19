// Mutation tests: breaks a source in many small ways and counts the breaks that its tests find.
// Usage: npm run mutation [-- targets, default: all]. Each target needs a score of 88 %; test/mutation.md lists the survivors.
import { pathToFileURL } from 'node:url';

const MIN_SCORE = 88;

/**
 * Sources and the tests that cover them. The whole suite for each mutant would take days.
 * `strings`: mutates texts too, in sources whose texts are a protocol and not messages of errors.
 * @type {Record<string, { sources: string[], tests: string[], strings?: boolean }>}
 */
export const targets = {
  sse: {
    sources: ['src/models/http/sse-decoder.ts'],
    tests: ['test/models/http/sse-decoder.test.ts'],
    strings: true,
  },
  window: {
    sources: ['src/memory/message-window-chat-memory.ts'],
    tests: ['test/memory/message-window-chat-memory.test.ts'],
  },
  repair: {
    sources: ['src/memory/history.ts'],
    tests: [
      'test/memory/history-repair.test.ts',
      'test/memory/history-trim.test.ts',
      'test/memory/history-prompt.test.ts',
    ],
  },
  json: {
    sources: ['src/internal/partial-json.ts', 'src/internal/json.ts'],
    tests: ['test/internal/partial-json.test.ts', 'test/internal/json.test.ts'],
  },
  schema: {
    sources: [
      'src/json-schema/validator.ts',
      'src/json-schema/memoized-check.ts',
      'src/json-schema/bounded-validator.ts',
    ],
    tests: [
      'test/json-schema/validator.test.ts',
      'test/json-schema/validator-steps.test.ts',
      'test/json-schema/memoized-check.test.ts',
      'test/json-schema/bounded-validator.test.ts',
      'test/json-schema/validator.property.test.ts',
    ],
  },
  around: {
    sources: ['src/advisor/around.ts'],
    tests: [
      'test/advisor/around.test.ts',
      'test/advisor/define-advisor.test.ts',
      'test/advisor/custom-events.test.ts',
      'test/advisor/run-tools.test.ts',
    ],
  },
  memory: {
    sources: ['advisors/message-chat-memory-advisor.ts'],
    tests: [
      'test/advisors/message-chat-memory-advisor.test.ts',
      'test/advisors/message-chat-memory-advisor-failures.test.ts',
      'test/advisors/message-chat-memory-advisor-tool-loop.test.ts',
    ],
  },
  loop: {
    sources: [
      'src/advisor/tool-loop.ts',
      'src/advisor/turn-limits.ts',
      'advisors/tool-calling-advisor.ts',
    ],
    tests: [
      'test/advisors/tool-calling-advisor.test.ts',
      'test/advisors/tool-calling-advisor-cancel.test.ts',
      'test/advisors/tool-calling-advisor-events.test.ts',
      'test/advisors/tool-calling-advisor-faults.test.ts',
      'test/advisors/tool-calling-advisor-limits.test.ts',
      'test/advisors/turn-limits.test.ts',
      'test/advisor/transcript.test.ts',
      'test/advisor/offered-tools.test.ts',
    ],
  },
  manager: {
    sources: [
      'src/tool-execution/tool-calling-manager.ts',
      'src/tool-execution/manager-options.ts',
      'src/tool-execution/call-limits.ts',
      'src/tool-execution/schedule-calls.ts',
      'src/tool-execution/run-call.ts',
      'src/tool-execution/call-tool.ts',
      'src/tool-execution/execution-result.ts',
    ],
    tests: [
      'test/tool-execution/tool-calling-manager.test.ts',
      'test/tool-execution/tool-calling-manager-effects.test.ts',
      'test/tool-execution/tool-calling-manager-resolver.test.ts',
      'test/tool-execution/tool-calling-manager-results.test.ts',
      'test/tool-execution/tool-failure.test.ts',
      'test/tool-execution/run-call.test.ts',
      'test/tool-execution/run-call-retries.test.ts',
      'test/tool-execution/result-size.test.ts',
      'test/tool-execution/progress.test.ts',
      'test/tool-execution/progress-ends.test.ts',
      'test/tool-execution/schedule-calls.test.ts',
      'test/tool-execution/execution-result.test.ts',
      'test/tool-execution/run-call-observation.test.ts',
      'test/tool-execution/argument-limits.test.ts',
      'test/tool-execution/tool-manager.test.ts',
      'test/tool-execution/endless-generators.test.ts',
      'test/advisors/kept-results.test.ts',
    ],
  },
  fold: {
    sources: [
      'src/chat/stream-fold.ts',
      'src/chat/open-calls.ts',
      'src/models/openai/completion-fold.ts',
    ],
    tests: [
      'test/chat/stream-fold.test.ts',
      'test/chat/stream-fold-call-ids.test.ts',
      'test/models/openai/completion-fold.test.ts',
      'test/models/openai/completion-fold-dialects.test.ts',
      'test/models/openai/completion-fold-document.test.ts',
      'test/models/openai/repeated-chunks.test.ts',
    ],
    strings: true,
  },
};

/** Mutants of one target are tried one after the other: others may work on the machine. */
function optionsOf({ sources, tests, strings = false }) {
  return {
    mutate: sources,
    mutator: { excludedMutations: strings ? [] : ['StringLiteral'] },
    testRunner: 'mocha',
    testRunnerNodeArgs: ['--import=tsx'],
    mochaOptions: { 'no-config': true, require: ['test/support/hooks.ts'], spec: tests },
    coverageAnalysis: 'perTest',
    concurrency: 1,
    thresholds: { high: 95, low: MIN_SCORE, break: null },
    reporters: ['clear-text', 'progress-append-only'],
    clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
    logLevel: 'warn',
    disableTypeChecks: false, // tsx checks no types
    tsconfigFile: 'none', // rewriting one needs the JavaScript API of TypeScript
    allowEmpty: false,
  };
}

/** The part of the mutants that a test found, in percent; those that do not count are left out. */
function scoreOf(mutants) {
  const count = (...statuses) => mutants.filter(({ status }) => statuses.includes(status)).length;
  const found = count('Killed', 'Timeout');
  return (100 * found) / (found + count('Survived', 'NoCoverage'));
}

async function main(names) {
  const unknown = names.find((name) => !Object.hasOwn(targets, name));
  if (unknown !== undefined)
    throw new Error(`there is ${Object.keys(targets).join(', ')}, but no ${unknown}`);
  // loaded on use: a test reads the table
  const { Stryker } = await import('@stryker-mutator/core');
  for (const name of names) {
    console.log(`\n## ${name}`);
    const score = scoreOf(await new Stryker(optionsOf(targets[name])).runMutationTest());
    console.log(`${name}: ${score.toFixed(1)} %, at least ${MIN_SCORE} %`);
    if (!(score >= MIN_SCORE)) process.exitCode = 1;
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href)
  await main(process.argv.length > 2 ? process.argv.slice(2) : Object.keys(targets));
