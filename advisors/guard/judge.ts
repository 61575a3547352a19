import type { ChatResponse, Generation } from '../../src/core/chat/chat-response.js';
import { textOf, type AssistantMessage, type ContentPart } from '../../src/core/chat/message.js';
import { modelCallError } from '../../src/core/chat/run-record.js';
import type { StructuredOutputError } from '../../src/core/errors/errors.js';
import { hasCode } from '../../src/core/errors/advisor-chain-error.js';
import type { CheckScope } from './check-run.js';
import { kindsOf, stopOf, type Hit, type Policies } from './policies.js';
import { changeContent, changeGeneration, withoutCopies, type TextChange } from './texts.js';
import type { CustomEvent } from '../../src/core/chat/chat-event.js';
import { notify } from '../../src/core/internal/notify.js';
import type { GuardReport } from './guard-options.js';

/** A text, as far as the rules let it pass, and what they found in it. */
export interface Judged<T> {
  readonly value: T;
  readonly hits: readonly Hit[];
}

type Content = string | readonly ContentPart[];

/** Findings of the rules for places in a content, and the content without what is to be redacted. */
export function scanContent(policies: Policies, content: Content): Judged<Content> {
  const hits = collect(policies, (look) => void changeContent(content, look));
  const isRedacted = kindsOf(hits, 'redact').length > 0 && !stopOf(hits);
  return { value: isRedacted ? changeContent(content, redaction(policies)) : content, hits };
}

/** Applies the policies to a content; at once if no rule judges whole texts. */
export function judgeContent(
  policies: Policies,
  content: Content,
  scope: CheckScope,
): Judged<Content> | Promise<Judged<Content>> {
  const judged = scanContent(policies, content);
  return withChecks(policies, judged, () => textOf(judged.value), scope);
}

/** Removes from the texts of an error what the policies remove from an answer. */
export function cleanError(policies: Policies, error: unknown): void {
  const isOfSchema = hasCode(error, 'structured_output');
  if (!isOfSchema && !modelCallError(error)?.partialText) return;
  const fields = error as unknown as Record<string, unknown>;
  const clean = (name: string, isAnswer: boolean): void => {
    const change = (text: unknown): unknown => cleanText(policies, text, isAnswer);
    const value = fields[name];
    if (value) Reflect.set(fields, name, Array.isArray(value) ? value.map(change) : change(value));
  };
  if (!isOfSchema) return clean('partialText', true);
  clean('text', true);
  clean('message', false); // has the words of a refusal
  clean('issues', false);
  for (const earlier of (error as StructuredOutputError).earlierAttempts)
    cleanError(policies, earlier);
}

/** @param isAnswer true for a text that rules for whole texts have not judged, and should have */
function cleanText(policies: Policies, text: unknown, isAnswer: boolean): unknown {
  if (typeof text !== 'string') return text;
  const { value, hits } = scanContent(policies, text);
  return stopOf(hits) || (isAnswer && policies.holdsWhole) ? '' : value;
}

/** Applies the policies to all alternatives of an answer. */
export function judgeAnswer(
  policies: Policies,
  response: ChatResponse,
  scope: CheckScope,
): Judged<ChatResponse> | Promise<Judged<ChatResponse>> {
  const hits = collect(policies, (look) => {
    for (const generation of response.generations) changeGeneration(generation, look);
  });
  const isRedacted = kindsOf(hits, 'redact').length > 0 && !stopOf(hits);
  const value = isRedacted ? redactAnswer(policies, response) : response;
  const judged = withChecks(policies, { value, hits }, () => textsOf(value), scope);
  return judged instanceof Promise ? judged.then(withMarks) : withMarks(judged);
}

function collect(policies: Policies, visit: (look: TextChange) => void): readonly Hit[] {
  const hits: Hit[] = [];
  visit((text, inToolCall) => {
    hits.push(...policies.scan(text, inToolCall));
    return text;
  });
  return hits;
}

function redaction(policies: Policies, removed: string[] = []): TextChange {
  return (text, inToolCall) => policies.redact(text, inToolCall, removed);
}

/** Rules for whole texts get what the others let pass; after these have refused a text, nothing. */
function withChecks<T>(
  policies: Policies,
  judged: Judged<T>,
  textOfValue: () => string,
  scope: CheckScope,
): Judged<T> | Promise<Judged<T>> {
  if (!policies.hasChecks || stopOf(judged.hits)) return judged;
  return policies
    .check(textOfValue(), scope)
    .then((hits) => ({ ...judged, hits: [...judged.hits, ...hits] }));
}

function redactAnswer(policies: Policies, response: ChatResponse): ChatResponse {
  const generations = response.generations.map((generation): Generation => {
    const removed: string[] = [];
    const change = redaction(policies, removed);
    const changed = changeGeneration(generation, change);
    return removed.length === 0 ? generation : withoutCopies(generation, changed, removed, change);
  });
  return response.with({ generations, metadata: undefined }); // which may quote the answer
}

/** Metadata of the first message: kinds that rules with `mark` found. */
function withMarks({ value, hits }: Judged<ChatResponse>): Judged<ChatResponse> {
  const kinds = kindsOf(hits, 'mark');
  const [first, ...others] = value.generations;
  if (kinds.length === 0 || !first) return { value, hits };
  const { message } = first;
  const marked = { ...message, metadata: { ...message.metadata, guard: kinds } };
  return { value: value.with({ generations: [{ ...first, message: marked }, ...others] }), hits };
}

function textsOf({ generations }: ChatResponse): string {
  return generations.flatMap(({ message }) => pieces(message)).join('\n');
}

function pieces({
  reasoning,
  content: text,
  refusal,
  toolCalls = [],
}: AssistantMessage): readonly string[] {
  const calls = toolCalls.map((call) => `${call.name} ${call.arguments}`);
  return [reasoning, text, refusal, ...calls].filter((piece) => typeof piece === 'string');
}

/** The verdict on a question that is judged beside the model. */
export class Gate {
  isOpen = false;
  /** Rejects with the error of a rule; never resolves if the question is refused. */
  readonly opened: Promise<void>;

  /** @param verdict resolves with true if the question passes */
  constructor(verdict: Promise<boolean>) {
    this.opened = new Promise((resolve, reject) => {
      verdict.then((passes) => {
        this.isOpen = passes;
        if (passes) resolve();
      }, reject);
    });
    this.opened.catch(() => undefined); // the guard of the question reports the error
  }
}

/** One event for each policy that found something, or whose rules failed; the listener gets it first. */
export function guardEvents(
  { guard, where, options }: Policies,
  hits: readonly Hit[],
  toolName?: string,
): readonly CustomEvent[] {
  const groups = new Map<string, { action: GuardReport['action']; own: Hit[] }>();
  const ids = new Map<object, number>();
  for (const hit of hits) {
    const { policy, failed } = hit;
    const id = ids.get(policy) ?? ids.size;
    ids.set(policy, id);
    const action = failed ? 'pass' : policy.action;
    const group = groups.get(`${id} ${action}`) ?? { action, own: [] };
    groups.set(`${id} ${action}`, group);
    group.own.push(hit);
  }
  return [...groups.values()].map(({ action, own }) =>
    guardEvent(options, {
      guard,
      where,
      action,
      rules: [...new Set(own.map(({ rule }) => rule))],
      kinds: [...new Set(own.flatMap(({ kinds }) => kinds))],
      ...(toolName !== undefined && { toolName }),
    }),
  );
}

export function guardEvent({ onFinding }: Policies['options'], data: GuardReport): CustomEvent {
  notify(() => onFinding?.(data));
  return { type: 'custom', name: 'guard', data };
}
