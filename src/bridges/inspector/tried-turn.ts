import { originsOf } from '../../core/advisor/invariants.js';
import type { ChatOptions } from '../../core/chat/chat-options.js';
import { CONVERSATION_ID } from '../../core/chat/context.js';
import type { Content, Message } from '../../core/chat/message.js';
import type { Decisions } from '../../core/chat/paused-turn.js';
import type { ChatClient, PromptSpec } from '../../core/client/chat-client.js';
import { NO_TEXT } from '../../core/client/text-spec.js';
import { InvalidArgumentError } from '../../core/errors/errors.js';
import {
  BOOLEAN,
  checkOption,
  checkOptions,
  FINITE,
  ID,
  oneOf,
  PLAIN_OBJECT,
  required,
  rule,
  TEXT,
} from '../../core/internal/options.js';
import { applyOverrides } from './changed-advisors.js';
import type { InspectedSource, LiveTurn } from './inspected-source.js';
import type { AdvisorOverride, TurnToTry } from './page-messages.js';
import { inNewConversation, withRepeatedMemory } from './repeated-memory.js';

const WHERE = 'try';
const MAX_OVERRIDES = 200;
const RULES = {
  text: TEXT,
  repeat: ID,
  conversationId: ID,
  mode: oneOf('call', 'stream'),
  options: PLAIN_OBJECT,
  advisors: rule(
    `an array of at most ${MAX_OVERRIDES} changes of advisors`,
    (value) => Array.isArray(value) && value.length <= MAX_OVERRIDES,
  ),
};
const OVERRIDE_RULES = {
  name: required(TEXT),
  isPresent: BOOLEAN,
  order: FINITE,
  options: PLAIN_OBJECT,
};

/** Checks the body of a request for a turn. @throws InvalidArgumentError */
export function checkTurnToTry(body: object): TurnToTry {
  checkOptions(WHERE, body, RULES);
  const { text, repeat, options, advisors = [] } = body as TurnToTry;
  if (text === undefined && repeat === undefined)
    throw new InvalidArgumentError(`${WHERE}: it needs a text, or the id of a turn to repeat`);
  for (const name of ['tools', 'toolContext'])
    if (options && Object.hasOwn(options, name))
      throw new InvalidArgumentError(`${WHERE}: options.${name} cannot be set by the page`);
  advisors.forEach((override: unknown, at) => {
    const path = `advisors[${at}]`;
    checkOption(WHERE, path, override, PLAIN_OBJECT);
    checkOptions(WHERE, override as AdvisorOverride, OVERRIDE_RULES, `${path}.`);
  });
  const names = advisors.map(({ name }) => name);
  if (new Set(names).size < names.length)
    throw new InvalidArgumentError(`${WHERE}: advisors has two changes of one advisor`);
  return body as TurnToTry;
}

/**
 * The turn that a page asks for, on the client or, repeated, on the chain of the first turn.
 * @param live the turn that is repeated
 * @throws InvalidArgumentError
 */
export function triedTurn(
  turn: TurnToTry,
  client: ChatClient,
  inspector: InspectedSource,
  live?: LiveTurn,
): PromptSpec {
  const { text, conversationId, options, advisors = [] } = turn;
  let spec = live
    ? repeatedTurn(specOf(live, client, inspector), live, turn)
    : newTurn(client.prompt(text), inspector);
  if (conversationId !== undefined) spec = spec.conversation(conversationId);
  if (options) spec = spec.options(options as ChatOptions);
  return applyOverrides(spec, advisors, inspector);
}

/** @throws InvalidArgumentError if a decision is none */
export function resumedTurn(
  live: LiveTurn,
  decisions: Decisions,
  client: ChatClient,
  inspector: InspectedSource,
): PromptSpec {
  const { id, state } = live.paused ?? {};
  return specOf(live, client, inspector).resume(id ?? state ?? '', decisions);
}

function newTurn(spec: PromptSpec, inspector: InspectedSource): PromptSpec {
  const inspected = spec.with({ advisors: withInspector(spec.settings.advisors, inspector) });
  const hasConversation = spec.settings.params.get(CONVERSATION_ID) !== undefined;
  return hasConversation ? inspected : inNewConversation(inspected);
}

function repeatedTurn(spec: PromptSpec, live: LiveTurn, turn: TurnToTry): PromptSpec {
  const { text, conversationId } = turn;
  // an own conversation has a memory of its own, to which the turn is added
  const repeated = conversationId === undefined ? withRepeatedMemory(spec, live) : spec;
  if (text === undefined) return repeated;
  return repeated.with({ messages: withQuestion(repeated.settings.messages, text) });
}

/** The request of a turn, on the chain that it had. */
function specOf(live: LiveTurn, client: ChatClient, inspector: InspectedSource): PromptSpec {
  const { advisors } = live;
  // advisors left of the inspector have changed the request that it has received
  const request = originsOf(live.request).at(-1)?.received ?? live.request;
  const { prompt, tools, toolContext, context } = request;
  const spec = client.prompt();
  const parts = new Set(advisors.flatMap((advisor) => advisor.parts ?? []));
  const own = advisors.filter((advisor) => !parts.has(advisor));
  return spec.with({
    model: request.model ?? spec.settings.model,
    system: NO_TEXT,
    user: NO_TEXT,
    messages: [...prompt.messages],
    options: prompt.options,
    tools,
    providers: [],
    toolContext,
    params: context,
    advisors: withInspector(own, inspector),
  });
}

function withInspector(
  advisors: PromptSpec['settings']['advisors'],
  inspector: InspectedSource,
): PromptSpec['settings']['advisors'] {
  return [inspector, ...advisors.filter(({ name }) => name !== inspector.name)];
}

/** The messages with another text of the user; media stay. */
function withQuestion(messages: readonly Message[], text: string): readonly Message[] {
  const at = messages.findLastIndex(({ role }) => role === 'user');
  const asked = messages[at];
  if (asked?.role !== 'user') return [...messages, { role: 'user', content: text }];
  const { content } = asked;
  const question: Content =
    typeof content === 'string'
      ? text
      : [...content.filter(({ type }) => type !== 'text'), { type: 'text', text }];
  return messages.with(at, { ...asked, content: question });
}
