import type { ChatModel } from '../chat/chat-model.js';
import { callsOf, hasMedia, textOf, type Message } from '../chat/message.js';
import type { MessageFold, Prompt } from '../chat/prompt.js';
import { ChainError, InvalidArgumentError } from '../errors/errors.js';
import { toolsOfOneName } from '../tool/check-tool.js';
import type { Tool } from '../tool/tool.js';
import type { Advisor } from './advisor.js';
import type { ChatClientRequest } from './chat-client-request.js';

/** The advisor that passed a changed request on, and the request that it had received. */
export interface Origin {
  readonly advisor: Advisor;
  readonly received: ChatClientRequest;
}

/**
 * Remembers the advisor that changed a request, for {@link checkModelRequest}.
 * @throws {@link ChainError} if it changed the transcript so that a call has lost its result
 */
export function recordOrigin(request: ChatClientRequest, origin: Origin): void {
  const { advisor, received } = origin;
  if (request === received) return;
  request.origin = origin;
  const { transcript } = request;
  if (transcript && received.transcript && transcript !== received.transcript)
    checkTranscript(transcript, received.transcript, advisor.name);
}

/** The changes that led to a request, from the last one. */
export function originsOf(request: ChatClientRequest): readonly Origin[] {
  const found = new Set<Origin>(); // not for ever: an advisor may pass an earlier request on again
  for (let { origin } = request; origin && !found.has(origin); { origin } = origin.received)
    found.add(origin);
  return [...found];
}

/**
 * Rejects a request that providers would reject, before it is sent.
 * @throws {@link ChainError} that names the advisor that broke it
 * @throws {@link InvalidArgumentError} if the request of the application is broken
 */
export function checkModelRequest(request: ChatClientRequest, model: ChatModel): void {
  for (const check of CHECKS) {
    const problem = check(request, model);
    if (problem === undefined) continue;
    const origin = originsOf(request).find(({ received }) => check(received, model) === undefined);
    const role = origin?.advisor.role;
    // a loop without a history leaves it to an advisor inside; `explain()` warns if there is none
    if (role === 'tool-loop' || (!origin && ALLOWED_FROM_APPLICATION.has(check))) continue;
    const culprit = origin && `advisor "${origin.advisor.name}" broke the request`;
    const hint = !origin && check === pairs ? ': see repairHistory(messages)' : '';
    const message = `${culprit ?? 'the request is broken'}: ${problem}; nothing was sent${hint}`;
    throw origin ? new ChainError(message) : new InvalidArgumentError(message);
  }
}

type Check = (request: ChatClientRequest, model: ChatModel) => string | undefined;

const pairs: Check = ({ prompt }) => pairProblem(prompt);
const systemFirst: Check = ({ prompt }, model) =>
  prompt.fold(foldMessages).isSystemFirst || model.systemMessages === 'anywhere'
    ? undefined
    : 'a system message stands after other messages';
const userMessage: Check = ({ prompt }) =>
  prompt.fold(foldMessages).hasUser ? undefined : 'it has no user message';

/** A choice of a tool that is not there fails at the provider, or is ignored. */
const choice: Check = ({ prompt: { options }, offeredTools, iteration }) => {
  const { toolChoice, tools = [], providerTools } = options;
  if (typeof toolChoice !== 'object' || iteration > 0 || providerTools) return undefined;
  return [...offeredTools, ...tools].some(({ definition }) => definition.name === toolChoice.tool)
    ? undefined
    : `toolChoice names "${toolChoice.tool}", which is none of its tools`;
};

const question: Check = ({ prompt }) =>
  prompt.fold(foldMessages).isBlank
    ? 'its last message, of the user, is blank; send a text or media'
    : undefined;

const CHECKS: readonly Check[] = [pairs, toolProblem, systemFirst, userMessage, question, choice];
/** Decisions of an application, which an advisor must not take for it. */
const ALLOWED_FROM_APPLICATION: ReadonlySet<Check> = new Set([systemFirst, userMessage]);

function checkTranscript(transcript: Prompt, received: Prompt, advisor: string): void {
  const problem = pairProblem(transcript);
  if (problem !== undefined && pairProblem(received) === undefined)
    throw new ChainError(
      `advisor "${advisor}" broke the transcript: ${problem}; keep a call and its results together`,
    );
}

interface Folded {
  readonly problem: string | undefined;
  /** Calls without a result, by id. */
  readonly open: ReadonlyMap<string, string>;
  readonly isSystemFirst: boolean;
  readonly hasUser: boolean;
  readonly hasOther: boolean;
  /** True if the messages end with a question, results or the first instructions, blank questions left out. */
  readonly asks: boolean;
  /** True if a blank question stands last, and nothing else asks: some providers refuse it. */
  readonly isBlank: boolean;
}

/** Describes a tool call without its result, or the reverse; undefined if there is none. */
export function pairProblem(prompt: Prompt): string | undefined {
  const { problem, open } = prompt.fold(foldMessages);
  return problem ?? missingResult(open);
}

function missingResult(open: ReadonlyMap<string, string>): string | undefined {
  for (const [id, name] of open) return `the call "${id}" of the tool "${name}" has no result`;
  return undefined;
}

const NO_CALLS: ReadonlyMap<string, string> = new Map();
const NOTHING: Folded = {
  problem: undefined,
  open: NO_CALLS,
  isSystemFirst: true,
  hasUser: false,
  hasOther: false,
  asks: false,
  isBlank: false,
};

/** Prompts of a loop grow from one another, so that each message is checked once. */
const foldMessages: MessageFold<Folded> = (before = NOTHING, added) => {
  let { problem, isSystemFirst, hasUser, hasOther, asks, isBlank } = before;
  let open = before.open.size > 0 ? new Map(before.open) : undefined;
  for (const message of added) {
    const { role } = message;
    hasUser ||= role === 'user';
    isSystemFirst &&= role !== 'system' || !hasOther;
    const isEmpty = isBlankQuestion(message);
    if (role === 'system') asks ||= !hasOther;
    else if (!isEmpty) asks = role !== 'assistant';
    hasOther ||= role !== 'system';
    isBlank = isEmpty && !asks;
    if (role === 'tool') {
      if (!open?.delete(message.toolCallId))
        problem ??= `the result "${message.toolCallId}" belongs to no call before it`;
      continue;
    }
    if (open) problem ??= missingResult(open);
    open = undefined;
    if (role !== 'assistant' || callsOf(message).length === 0) continue;
    open = new Map();
    for (const { id, name } of callsOf(message)) {
      if (open.has(id)) problem ??= `two calls of one message have the id "${id}"`;
      open.set(id, name);
    }
  }
  return { problem, open: open ?? NO_CALLS, isSystemFirst, hasUser, hasOther, asks, isBlank };
};

function isBlankQuestion(message: Message): boolean {
  if (message.role !== 'user') return false;
  return textOf(message.content).trim() === '' && !hasMedia(message.content);
}

function toolProblem(request: ChatClientRequest): string | undefined {
  const [first, second] = toolsOfOneName(request.tools) ?? [];
  if (!first || !second) return undefined;
  const sources = [
    sourceOf(first, 1, request),
    sourceOf(second, first === second ? 2 : 1, request),
  ];
  return `two tools have the same name: ${first.definition.name}, one of ${sources.join(', one of ')}`;
}

/** Finds the advisor that has added a tool to a request; if it has one several times, the advisor that repeated it. */
function sourceOf(tool: Tool, count: number, request: ChatClientRequest): string {
  if (request.model?.defaultOptions?.tools?.includes(tool)) return "the model's default options";
  const origin = originsOf(request).find(
    ({ received }) => received.tools.filter((each) => each === tool).length < count,
  );
  return origin ? `advisor "${origin.advisor.name}"` : 'the request';
}
