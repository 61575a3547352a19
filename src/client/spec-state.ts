import type { Advisor } from '../advisor/advisor.js';
import { createAdvisorChain, type AdvisorHandler } from '../advisor/advisor-chain.js';
import { ChatClientRequest } from '../advisor/chat-client-request.js';
import type { Cancellable } from '../chat/cancellation.js';
import { checkOptions, mergeOptions, type ChatOptions } from '../chat/chat-options.js';
import type { ChatModel } from '../chat/chat-model.js';
import type { AdvisorContext } from '../chat/context.js';
import { MessageLog } from '../chat/message-log.js';
import { checkMessage, describe, type ContentPart, type Message } from '../chat/message.js';
import { Prompt } from '../chat/prompt.js';
import { InvalidArgumentError } from '../errors.js';
import type { Tool } from '../tool/tool.js';
import { AdvisorSpec, configureAdvisors, TOOL_CALLING_AUTO_REGISTER, type AdvisorConfigurer } from './advisor-spec.js';
import type { ChatClientBuilder } from './chat-client-builder.js';
import { SystemSpec, toSystemMessage, toUserMessage, UserSpec, type TextState } from './text-spec.js';
import type { TemplateParams, TemplateRenderer } from './template.js';
import { addToolContext, addTools, type ToolState } from './tool-state.js';

/** Makes the tool-calling advisor that a client adds by itself. */
export type ToolLoopFactory = (options: { readonly keepHistory: boolean }) => Advisor;

/** Everything that a client's defaults and a request's settings consist of. Immutable: each setting gives a new state. */
export interface SpecState extends ToolState {
  readonly model: ChatModel;
  readonly toolLoop: ToolLoopFactory;
  readonly renderer: TemplateRenderer;
  readonly system: TextState;
  readonly user: TextState;
  readonly messages: readonly Message[];
  readonly options: ChatOptions;
  readonly advisors: readonly Advisor[];
  readonly params: AdvisorContext;
  readonly signal?: AbortSignal;
  readonly chains: ChainCache;
  /** Makes a builder that starts from a state; here as a function, since builder, client and spec would import one another. */
  readonly toBuilder: (state: SpecState) => ChatClientBuilder;
}

/** A system text, or a function that builds one. */
export type SystemInput = string | ((spec: SystemSpec) => SystemSpec);

/** A user text, parts, or a function that builds one. */
export type UserInput = string | readonly ContentPart[] | ((spec: UserSpec) => UserSpec);

export function setSystem(state: SpecState, input: SystemInput, params: TemplateParams | undefined, where: string): SpecState {
  const changed =
    typeof input === 'function' ? input(new SystemSpec(state.system, where)) : withText(SystemSpec, state.system, input, where);
  if (!(changed instanceof SystemSpec)) throw mustReturn(where);
  return { ...state, system: (params === undefined ? changed : changed.params(params)).state };
}

export function setUser(state: SpecState, input: UserInput, params: TemplateParams | undefined, where: string): SpecState {
  const changed =
    typeof input === 'function'
      ? input(new UserSpec(state.user, where))
      : Array.isArray(input)
        ? new UserSpec(state.user, where).part(...(input as readonly ContentPart[]))
        : withText(UserSpec, state.user, input as string, where);
  if (!(changed instanceof UserSpec)) throw mustReturn(where);
  return { ...state, user: (params === undefined ? changed : changed.params(params)).state };
}

/** A text in place of another begins without the params of that: a text that came without params is no template. */
function withText<S extends SystemSpec>(
  Spec: new (state: TextState, where: string) => S,
  state: TextState,
  text: string,
  where: string,
): S {
  return new Spec(state.text === undefined ? state : { ...state, params: {} }, where).text(text);
}

function mustReturn(where: string): InvalidArgumentError {
  return new InvalidArgumentError(`${where}: the function must return the spec it was given, as in (s) => s.text('…')`);
}

export function addMessages(state: SpecState, messages: readonly Message[], where: string): SpecState {
  messages.forEach((message, at) => checkMessage(message, `${where}: message ${at}`));
  return { ...state, messages: [...state.messages, ...messages] };
}

/** Options on top of those so far, option by option; the first are the model's. Tools and tool context among them have a place of their own. */
export function addOptions(state: SpecState, options: ChatOptions, where: string): SpecState {
  checkOptions(options, where);
  const { tools, toolContext, ...rest } = options;
  const changed = { ...state, options: mergeOptions(state.options, rest) };
  const withTools = tools ? addTools(changed, tools as readonly Tool[], where) : changed;
  return toolContext ? addToolContext(withTools, [toolContext], where) : withTools;
}

export function addAdvisors(state: SpecState, parts: readonly (Advisor | AdvisorConfigurer)[], where: string): SpecState {
  const { added, context } = configureAdvisors(new AdvisorSpec(state.advisors, state.params, where), parts, where);
  return { ...state, advisors: added, params: context };
}

export function setSignal(state: SpecState, signal: AbortSignal, where: string): SpecState {
  if (typeof signal?.aborted !== 'boolean') throw new InvalidArgumentError(`${where}: expected an AbortSignal, not ${describe(signal)}`);
  return { ...state, signal };
}

/** The request of one run. */
export function toRequest(state: SpecState, mode: 'call' | 'stream', cancellation: Cancellable): ChatClientRequest {
  const system = toSystemMessage(state.system, state.renderer);
  const user = toUserMessage(state.user, state.renderer);
  const messages = [...(system ? [system] : []), ...state.messages, ...(user ? [user] : [])];
  if (messages.length === 0)
    throw new InvalidArgumentError('the prompt has no messages; add one with prompt(text), user(…), system(…) or messages(…)');
  const prompt = new Prompt(MessageLog.of(messages), state.options);
  return new ChatClientRequest({ prompt, mode, cancellation, tools: state.tools, toolContext: state.toolContext, context: state.params });
}

/** The advisors of a state, the tool loop that is added by itself included. */
export function advisorsOf(state: SpecState): readonly Advisor[] {
  const { advisors, toolLoop } = state;
  if (!state.params.get(TOOL_CALLING_AUTO_REGISTER) || advisors.some((advisor) => advisor.role === 'tool-loop')) return advisors;
  const loop = toolLoop({ keepHistory: true });
  const memoryInside = advisors.some((advisor) => advisor.role === 'chat-memory' && advisor.order > loop.order);
  return [...advisors, memoryInside ? toolLoop({ keepHistory: false }) : loop];
}

/** The chains of a client, by list of advisors: built once, however many requests share the list. */
export class ChainCache {
  private readonly withLoop = new WeakMap<readonly Advisor[], AdvisorHandler>();
  private readonly withoutLoop = new WeakMap<readonly Advisor[], AdvisorHandler>();

  of(state: SpecState): AdvisorHandler {
    const built = state.params.get(TOOL_CALLING_AUTO_REGISTER) ? this.withLoop : this.withoutLoop;
    let chain = built.get(state.advisors);
    if (!chain) built.set(state.advisors, (chain = createAdvisorChain(advisorsOf(state), state.model)));
    return chain;
  }
}
