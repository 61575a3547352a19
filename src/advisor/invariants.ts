import type { ChatModel } from '../chat/chat-model.js';
import type { Message } from '../chat/message.js';
import type { MessageFold, Prompt } from '../chat/prompt.js';
import { ChainError, InvalidArgumentError } from '../errors.js';
import type { Tool } from '../tool/tool.js';
import type { Advisor } from './advisor.js';
import type { ChatClientRequest } from './chat-client-request.js';

/** The advisor that passed a changed request on, and the request that it had received. */
export interface Origin {
  readonly advisor: Advisor;
  readonly received: ChatClientRequest;
}

const origins = new WeakMap<ChatClientRequest, Origin>();

/**
 * Remembers the advisor that changed a request, for {@link checkModelRequest}.
 * @throws {@link ChainError} if it changed the transcript so that a call has lost its result
 */
export function recordOrigin(request: ChatClientRequest, origin: Origin): void {
  const { advisor, received } = origin;
  if (request === received) return;
  origins.set(request, origin);
  const { transcript } = request;
  if (transcript && received.transcript && transcript !== received.transcript)
    checkTranscript(transcript, received.transcript, advisor.name);
}

/**
 * Rejects a request that providers would reject, before it is sent.
 * @throws {@link ChainError} that names the advisor that broke it
 * @throws {@link InvalidArgumentError} if the request of the application is broken
 */
export function checkModelRequest(request: ChatClientRequest, model: ChatModel): void {
  const problem = problemOf(request, model);
  if (problem === undefined) return;
  let origin = origins.get(request);
  while (origin && problemOf(origin.received, model) !== undefined)
    origin = origins.get(origin.received);
  const message = `${problem}; nothing was sent`;
  if (!origin) {
    // where the application puts its system messages is its own decision
    if (problem !== MISPLACED) throw new InvalidArgumentError(`the request is broken: ${message}`);
    return;
  }
  // a loop without a history leaves it to an advisor inside; `explain()` warns if there is none
  if (origin.advisor.role === 'tool-loop') return;
  throw new ChainError(`advisor "${origin.advisor.name}" broke the request: ${message}`);
}

function checkTranscript(transcript: Prompt, received: Prompt, advisor: string): void {
  const problem = pairProblem(transcript);
  if (problem !== undefined && pairProblem(received) === undefined)
    throw new ChainError(
      `advisor "${advisor}" broke the transcript: ${problem}; keep a call and its results together`,
    );
}

const MISPLACED = 'a system message stands after other messages';

function problemOf(request: ChatClientRequest, model: ChatModel): string | undefined {
  const { prompt, offeredTools } = request;
  const { systemMessages } = prompt.fold(foldMessages);
  const problem = pairProblem(prompt) ?? toolProblem(offeredTools);
  if (problem !== undefined || systemMessages === 'first' || model.systemMessages === 'anywhere')
    return problem;
  return MISPLACED;
}

interface Folded {
  readonly problem: string | undefined;
  /** Calls without a result, by id. */
  readonly open: ReadonlyMap<string, string>;
  readonly systemMessages: 'first' | 'anywhere';
  readonly hasOther: boolean;
}

function pairProblem(prompt: Prompt): string | undefined {
  const { problem, open } = prompt.fold(foldMessages);
  return problem ?? missingResult(open);
}

function missingResult(open: ReadonlyMap<string, string>): string | undefined {
  for (const [id, name] of open) return `the call "${id}" of the tool "${name}" has no result`;
  return undefined;
}

const NOTHING: Omit<Folded, 'open'> = {
  problem: undefined,
  systemMessages: 'first',
  hasOther: false,
};

/** Prompts of a loop grow from one another, so that each message is checked once. */
const foldMessages: MessageFold<Folded> = (before, added) => {
  let { problem, systemMessages, hasOther } = before ?? NOTHING;
  const open = new Map(before?.open);
  for (const message of added) {
    if (message.role === 'system' && hasOther) systemMessages = 'anywhere';
    hasOther ||= message.role !== 'system';
    if (message.role !== 'tool') problem ??= missingResult(open);
    else if (!open.delete(message.toolCallId))
      problem ??= `the result "${message.toolCallId}" belongs to no call before it`;
    if (message.role === 'assistant') problem ??= openCalls(message, open);
  }
  return { problem, open, systemMessages, hasOther };
};

function openCalls(
  { toolCalls }: Message & { readonly role: 'assistant' },
  open: Map<string, string>,
): string | undefined {
  for (const { id, name } of toolCalls) {
    if (open.has(id)) return `two calls of one message have the id "${id}"`;
    open.set(id, name);
  }
  return undefined;
}

const checkedTools = new WeakSet<readonly Tool[]>();

function toolProblem(tools: readonly Tool[]): string | undefined {
  if (checkedTools.has(tools)) return undefined;
  const names = tools.map((tool) => tool.definition.name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) return `two tools are named "${twice}"`;
  checkedTools.add(tools);
  return undefined;
}
