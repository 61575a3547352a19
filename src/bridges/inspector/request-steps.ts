import { withModelDefaults, type ChatOptions } from '../../core/chat/chat-options.js';
import type { Message } from '../../core/chat/message.js';
import type { OfferedTool } from '../../core/chat/tool-definition.js';
import type { ObservedModelCall, ObservedRequest } from '../../core/observation/observation.js';
import type { AdvisorChanges, NamedChange, RequestChange } from './inspected-turn.js';
import { isSameMessage } from './message-difference.js';
import { requestChanges, type RawRequest } from './request-difference.js';

/** A request of a model, and how it came about. */
export interface TracedRequest {
  readonly request: RawRequest;
  readonly steps: readonly AdvisorChanges[];
  readonly sincePrevious: readonly NamedChange[] | undefined;
}

/** Name of what no advisor changes, such as a new question. */
const APPLICATION = 'application';
/** Name of what the call of a model adds: an output format, a history that fits, names and ids. */
const MODEL = 'model';

/** Traces the requests of the model calls of a turn, in order. */
export class RequestTrace {
  private previous: TracedRequest | undefined;
  /** The advisors that have added or removed messages, in earlier requests of the turn. */
  private readonly added = new Map<Message, string>();
  private readonly removed = new Map<Message, string>();

  next(call: ObservedModelCall): TracedRequest {
    const request = sentRequest(call);
    const steps = call.request ? this.stepsOf(call, call.request, request) : [];
    const { previous } = this;
    const sincePrevious =
      previous &&
      requestChanges(previous.request, request).map((change) => ({
        advisor: authorOf(change, steps, previous.steps),
        change,
      }));
    this.previous = { request, steps, sincePrevious };
    return this.previous;
  }

  private stepsOf(
    call: ObservedModelCall,
    last: ObservedRequest,
    sent: RawRequest,
  ): readonly AdvisorChanges[] {
    const loop = loopOf(last);
    let current = last;
    const passed: { advisor: string; changes: readonly RequestChange[] }[] = [];
    const seen = new Set<ObservedRequest>();
    while (current.origin && !seen.has(current)) {
      seen.add(current);
      const { advisor, received } = current.origin;
      const changes = requestChanges(rawRequest(received, call), rawRequest(current, call));
      passed.unshift({ advisor: advisor.name, changes });
      current = received;
    }
    passed.push({ advisor: MODEL, changes: requestChanges(rawRequest(last, call), sent) });
    return passed.flatMap(({ advisor, changes }) => {
      // the loop continues with what an advisor inside has made of its conversation
      if (advisor === loop) return this.sharedOut(changes, loop);
      if (advisor !== MODEL) for (const change of changes) this.remember(change, advisor);
      return changes.length > 0 ? [{ advisor, changes }] : [];
    });
  }

  /** Changes by their owners, or else the loop. */
  private sharedOut(changes: readonly RequestChange[], loop: string): readonly AdvisorChanges[] {
    const groups = new Map<string, RequestChange[]>();
    for (const change of changes) {
      const owner = this.ownerOf(change) ?? loop;
      const own = groups.get(owner) ?? [];
      groups.set(owner, own);
      own.push(change);
    }
    return [...groups].map(([advisor, own]) => ({ advisor, changes: own }));
  }

  private ownerOf(change: RequestChange): string | undefined {
    const [added, removed] = [addedBy(change), removedBy(change)];
    return (added && this.added.get(added)) ?? (removed && this.removed.get(removed));
  }

  private remember(change: RequestChange, advisor: string): void {
    const [added, removed] = [addedBy(change), removedBy(change)];
    if (added) this.added.set(added, advisor);
    if (removed) this.removed.set(removed, advisor);
  }
}

/** Name of the tool loop that a request came through. */
function loopOf(request: ObservedRequest | undefined): string | undefined {
  const seen = new Set<ObservedRequest>();
  for (let at = request; at?.origin && !seen.has(at); at = at.origin.received) {
    if (at.origin.advisor.role === 'tool-loop') return at.origin.advisor.name;
    seen.add(at);
  }
  return undefined;
}

/** The author of a change from one request of a model to the next. */
function authorOf(
  change: RequestChange,
  steps: readonly AdvisorChanges[],
  earlier: readonly AdvisorChanges[],
): string {
  const by = (list: readonly AdvisorChanges[], isIt: (other: RequestChange) => boolean) =>
    list.findLast(({ changes }) => changes.some(isIt))?.advisor;
  // what an advisor had added to the request before, and has not added to this one
  const undone = (): string | undefined => by(earlier, (other) => isReverse(change, other));
  return by(steps, (other) => isLike(change, other)) ?? undone() ?? APPLICATION;
}

/** True for changes with the same effect. */
function isLike(change: RequestChange, other: RequestChange): boolean {
  switch (change.type) {
    case 'message-added':
    case 'message-changed':
      return isSameMessage(addedBy(other), addedBy(change));
    case 'message-removed':
      return isSameMessage(removedBy(other), change.message);
    case 'option-changed':
      return other.type === change.type && other.name === change.name;
    case 'model-changed':
      return other.type === change.type;
    default:
      return toolOf(other) === toolOf(change);
  }
}

/** True if a change takes back what another one did. */
function isReverse(change: RequestChange, other: RequestChange): boolean {
  switch (change.type) {
    case 'message-added':
      return isSameMessage(removedBy(other), change.message);
    case 'message-removed':
    case 'message-changed':
      return isSameMessage(addedBy(other), removedBy(change));
    default:
      return isLike(change, other);
  }
}

function addedBy(change: RequestChange): Message | undefined {
  if (change.type === 'message-added') return change.message;
  return change.type === 'message-changed' ? change.after : undefined;
}

function removedBy(change: RequestChange): Message | undefined {
  if (change.type === 'message-removed') return change.message;
  return change.type === 'message-changed' ? change.before : undefined;
}

function toolOf(change: RequestChange): string | undefined {
  if (change.type === 'tool-added' || change.type === 'tool-removed') return change.tool.name;
  return change.type === 'tool-changed' ? change.after.name : undefined;
}

/** A request as the model gets it when nothing else changes it. */
function rawRequest(request: ObservedRequest, { main }: ObservedModelCall): RawRequest {
  const { prompt, offeredTools, model = main } = request;
  const { defaultOptions } = model ?? {};
  const options = defaultOptions
    ? withModelDefaults(defaultOptions, prompt.options)
    : prompt.options;
  const tools = [...(prompt.options.tools ?? []), ...offeredTools];
  return toRaw(prompt.messages, tools, options, model?.provider?.name);
}

function sentRequest({ prompt, options, provider }: ObservedModelCall): RawRequest {
  return toRaw(
    prompt.messages,
    prompt.options.tools ?? options.tools ?? [],
    options,
    provider?.name,
  );
}

function toRaw(
  messages: readonly Message[],
  offered: readonly OfferedTool[],
  { tools: _tools, toolContext: _values, model, ...options }: ChatOptions,
  provider: string | undefined,
): RawRequest {
  const tools = offered.map(({ definition }) => definition);
  return { messages, tools, options, model: model ?? provider };
}
