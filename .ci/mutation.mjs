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
    sources: ['src/stores/chat-memory/message-window-chat-memory.ts'],
    tests: ['test/stores/chat-memory/message-window-chat-memory.test.ts'],
  },
  repair: {
    sources: ['src/stores/chat-memory/history.ts'],
    tests: [
      'test/stores/chat-memory/history-repair.test.ts',
      'test/stores/chat-memory/history-trim.test.ts',
      'test/stores/chat-memory/history-prompt.test.ts',
    ],
  },
  json: {
    sources: ['src/core/internal/partial-json.ts', 'src/core/internal/json.ts'],
    tests: ['test/core/internal/partial-json.test.ts', 'test/core/internal/json.test.ts'],
  },
  schema: {
    sources: [
      'src/core/json-schema/validator.ts',
      'src/core/json-schema/schema-check.ts',
      'src/core/json-schema/keywords.ts',
      'src/core/json-schema/limits.ts',
      'src/core/json-schema/evaluated-keys.ts',
      'src/core/json-schema/compare-values.ts',
    ],
    tests: [
      'test/core/json-schema/validator.test.ts',
      'test/core/json-schema/validator-steps.test.ts',
      'test/core/json-schema/schema-check.test.ts',
      'test/core/json-schema/validator.property.test.ts',
    ],
  },
  around: {
    sources: ['src/core/advisor/around.ts'],
    tests: [
      'test/core/advisor/around.test.ts',
      'test/core/advisor/define-advisor.test.ts',
      'test/core/advisor/custom-events.test.ts',
      'test/core/advisor/run-tools.test.ts',
    ],
  },
  memory: {
    sources: ['advisors/message-chat-memory/message-chat-memory-advisor.ts'],
    tests: [
      'test/advisors/message-chat-memory/message-chat-memory-advisor.test.ts',
      'test/advisors/message-chat-memory/message-chat-memory-advisor-failures.test.ts',
      'test/advisors/message-chat-memory/message-chat-memory-advisor-tool-loop.test.ts',
    ],
  },
  loop: {
    sources: [
      'src/core/advisor/tool-loop.ts',
      'src/core/advisor/turn-limits.ts',
      'advisors/tool-calling-advisor.ts',
    ],
    tests: [
      'test/advisors/tool-calling-advisor.test.ts',
      'test/advisors/tool-calling-advisor-cancel.test.ts',
      'test/advisors/tool-calling-advisor-events.test.ts',
      'test/advisors/tool-calling-advisor-faults.test.ts',
      'test/advisors/tool-calling-advisor-limits.test.ts',
      'test/core/advisor/turn-limits.test.ts',
      'test/core/advisor/transcript.test.ts',
      'test/core/advisor/offered-tools.test.ts',
    ],
  },
  manager: {
    sources: [
      'src/core/tool-execution/tool-calling-manager.ts',
      'src/core/tool-execution/manager-options.ts',
      'src/core/tool-execution/call-limits.ts',
      'src/core/tool-execution/schedule-calls.ts',
      'src/core/tool-execution/batch-call.ts',
      'src/core/tool-execution/call-tool.ts',
      'src/core/tool-execution/execution-result.ts',
    ],
    tests: [
      'test/core/tool-execution/tool-calling-manager.test.ts',
      'test/core/tool-execution/tool-calling-manager-effects.test.ts',
      'test/core/tool-execution/tool-calling-manager-resolver.test.ts',
      'test/core/tool-execution/tool-calling-manager-results.test.ts',
      'test/core/tool-execution/tool-failure.test.ts',
      'test/core/tool-execution/batch-call.test.ts',
      'test/core/tool-execution/batch-call-retries.test.ts',
      'test/core/tool-execution/result-size.test.ts',
      'test/core/tool-execution/progress.test.ts',
      'test/core/tool-execution/progress-ends.test.ts',
      'test/core/tool-execution/schedule-calls.test.ts',
      'test/core/tool-execution/execution-result.test.ts',
      'test/core/tool-execution/batch-call-observation.test.ts',
      'test/core/tool-execution/argument-limits.test.ts',
      'test/core/tool-execution/tool-manager.test.ts',
      'test/core/tool-execution/endless-generators.test.ts',
      'test/core/tool-execution/kept-results.test.ts',
    ],
  },
  fold: {
    sources: [
      'src/core/chat/stream-fold.ts',
      'src/core/chat/open-calls.ts',
      'src/models/openai/completion-fold.ts',
    ],
    tests: [
      'test/core/chat/stream-fold.test.ts',
      'test/core/chat/call-ids.test.ts',
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
