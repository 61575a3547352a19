import { Attribute, Operation } from '../observability/names.js';
import { numberIn, onOneLine, textIn } from './span-attributes.js';
import type { SpanLike } from './span-like.js';
import { isTime, millisecondsBetween } from './span-time.js';
import type { SpanNode } from './span-tree.js';

const ERROR_STATUS = 2;
const MILLISECONDS = new Intl.NumberFormat('en-US', { minimumFractionDigits: 1, maximumFractionDigits: 1, signDisplay: 'negative' });
const COUNT = new Intl.NumberFormat('en-US');

/** What is told of a span beside its name: duration, tokens in, tokens out, and all else. */
export function spanColumns(node: SpanNode): readonly string[] {
  const { span } = node;
  const input = tokensOf(node, Attribute.USAGE_INPUT_TOKENS);
  const output = tokensOf(node, Attribute.USAGE_OUTPUT_TOKENS);
  return [durationOf(span), countOf(input, 'in'), countOf(output, 'out'), detailsOf(span)];
}

function durationOf({ startTime, endTime, ended }: SpanLike): string {
  if (ended === false || endTime === undefined) return 'open';
  return isTime(startTime) && isTime(endTime) ? milliseconds(millisecondsBetween(startTime, endTime)) : '?';
}

/** The tokens that a span tells of; of a turn without an answer, those of its model calls. */
function tokensOf(node: SpanNode, name: string): number | undefined {
  return numberIn(node.span.attributes, name) ?? (isOperation(node.span, Operation.INVOKE_AGENT) ? tokensWithin(node, name) : undefined);
}

function tokensWithin({ children }: SpanNode, name: string): number | undefined {
  let sum: number | undefined;
  const ahead = [...children];
  for (let node = ahead.pop(); node; node = ahead.pop()) {
    // a turn within this one has a total of its own
    if (isOperation(node.span, Operation.INVOKE_AGENT)) continue;
    const count = numberIn(node.span.attributes, name);
    if (count === undefined) for (const child of node.children) ahead.push(child);
    else sum = (sum ?? 0) + count;
  }
  return sum;
}

function detailsOf(span: SpanLike): string {
  const { attributes } = span;
  const count = (name: string, thing: string): string => countOf(numberIn(attributes, name), thing);
  const counted = (name: string, thing: string): string => count(name, numberIn(attributes, name) === 1 ? thing : `${thing}s`);
  const seconds = (name: string, what: string): string => {
    const time = numberIn(attributes, name);
    return time === undefined ? '' : `${what} ${milliseconds(time * 1e3)}`;
  };
  const details = [
    count(Attribute.USAGE_CACHE_READ_INPUT_TOKENS, 'cached'),
    count(Attribute.USAGE_REASONING_OUTPUT_TOKENS, 'reasoning'),
    counted(Attribute.TURN_ITERATIONS, 'iteration'),
    counted(Attribute.TURN_TOOL_CALLS, 'tool call'),
    textIn(attributes, Attribute.RESPONSE_FINISH_REASONS),
    seconds(Attribute.RESPONSE_TIME_TO_FIRST_CHUNK, 'first chunk'),
    counted(Attribute.RESPONSE_CHUNKS, 'chunk'),
    seconds(Attribute.ADVISOR_EXCLUSIVE_TIME, 'own'),
    outcomeOf(span),
  ];
  return onOneLine(details.filter(Boolean).join(', '), 300);
}

/** What came of it; that it went well is news of tools only, since others say what they answered. */
function outcomeOf(span: SpanLike): string {
  const { attributes, status } = span;
  const hasFailed = status?.code === ERROR_STATUS;
  const outcome = textIn(attributes, Attribute.OUTCOME) ?? (hasFailed ? 'error' : undefined);
  const reason = textIn(attributes, Attribute.ERROR_TYPE) ?? (hasFailed ? textIn(status, 'message') : undefined);
  const isUsual = outcome === 'success' && !isOperation(span, Operation.EXECUTE_TOOL);
  return [...new Set([isUsual ? undefined : outcome, reason])].filter(Boolean).join(' ');
}

function isOperation({ attributes }: SpanLike, operation: string): boolean {
  return attributes?.[Attribute.OPERATION_NAME] === operation;
}

function countOf(count: number | undefined, thing: string): string {
  return count === undefined ? '' : `${COUNT.format(count)} ${thing}`;
}

function milliseconds(time: number): string {
  return `${MILLISECONDS.format(time)} ms`;
}
