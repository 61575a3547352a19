import type { RunReport } from '../../core/chat/run-report.js';
import type { Usage } from '../../core/chat/chat-response.js';

/** A turn of the session, for its exports and sums. */
export interface FinishedTurn {
  readonly question: string;
  readonly outcome: 'answered' | 'failed' | 'cancelled';
  readonly answer: string | undefined;
  readonly error?: string | undefined;
  /** Name of the model, as `--model` has it. */
  readonly model: string;
  readonly run: RunReport | undefined;
}

/** Tokens and cost of turns, as text. */
export function describeTokens(turns: readonly FinishedTurn[]): string {
  const runs = turns.flatMap(({ run }) => run ?? []);
  const calls = runs.flatMap(({ ledger }) => ledger);
  if (calls.length === 0) return 'No model was called so far.';
  const used = runs.flatMap(({ usage }) => usage ?? []);
  const sum = (field: keyof Usage): number =>
    used.reduce((total, usage) => total + (usage[field] ?? 0), 0);
  const part = (field: keyof Usage, name: string): readonly string[] =>
    used.some((usage) => usage[field] !== undefined) ? [`${number(sum(field))} ${name}`] : [];
  const input = part('cachedInputTokens', 'cached').concat(part('cacheWriteTokens', 'written'));
  const output = part('reasoningTokens', 'reasoning');
  const unknown = calls.filter(({ usage }) => !usage).length;
  return [
    `turns   ${number(turns.length)}, model calls ${number(calls.length)}`,
    `input   ${number(sum('inputTokens'))} tokens${inBrackets(input)}`,
    `output  ${number(sum('outputTokens'))} tokens${inBrackets(output)}`,
    `total   ${number(sum('totalTokens'))} tokens`,
    `cost    ${costOf(runs)}`,
    ...(unknown > 0 ? [`        of ${number(unknown)} calls no usage is known`] : []),
  ].join('\n');
}

function costOf(runs: readonly RunReport[]): string {
  const costs = runs.map(({ cost }) => cost);
  if (costs.includes(undefined)) return 'unknown: the client has no price for its model';
  const total = costs.reduce<number>((sum, cost) => sum + (cost ?? 0), 0);
  return total.toLocaleString('en-US', { maximumFractionDigits: 6 });
}

const number = (value: number): string => value.toLocaleString('en-US');
const inBrackets = (parts: readonly string[]): string =>
  parts.length > 0 ? ` (${parts.join(', ')})` : '';

/** Turns as a document. */
export function toMarkdown(turns: readonly FinishedTurn[], conversationId: string): string {
  const parts = turns.flatMap(({ question, outcome, answer, error, model, run }, at) => [
    `## Turn ${at + 1}`,
    `**You**\n\n${question}`,
    ...(run?.toolCalls ?? []).map(
      ({ toolName, call, status }) => `- \`${toolName}\` ${fenced(call.arguments)} (${status})`,
    ),
    `**${model}**\n\n${answer ?? `*${outcome}${error === undefined ? '' : `: ${error}`}*`}`,
  ]);
  return [`# Conversation ${conversationId}`, ...parts].join('\n\n') + '\n';
}

/** A code span whose fence is longer than any in the text. */
function fenced(text: string): string {
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = '`'.repeat(longest + 1);
  return longest > 0 ? `${fence} ${text} ${fence}` : `${fence}${text}${fence}`;
}
