import { createAdvisorChain } from '../advisor/advisor-chain.js';
import type { Advisor, AdvisorHandler } from '../advisor/advisor.js';
import { ChatClientRequest } from '../advisor/chat-client-request.js';
import type { ChatModel } from '../chat/chat-model.js';
import {
  checkChatOptions,
  mergeOptions,
  type ChatOptions,
  type ToolContextValues,
} from '../chat/chat-options.js';
import type { AdvisorContext } from '../chat/context.js';
import { checkMessage, type ContentPart, type Message } from '../chat/message.js';
import { MessageLog, Prompt } from '../chat/prompt.js';
import { InvalidArgumentError } from '../errors.js';
import type { Cancellable } from '../internal/cancellation.js';
import { checkOption, rule } from '../internal/options.js';
import { toolContextValues, type ToolContextInput } from '../tool-execution/tool-context.js';
import { checkTool, toolsByName } from '../tool/check-tool.js';
import type { PlacedProvider } from '../tool/resolve-tools.js';
import { checkToolProvider, isToolProvider, type ToolProvider } from '../tool/tool-provider.js';
import type { Tool } from '../tool/tool.js';
import { AdvisorSpec, TOOL_CALLING_AUTO_REGISTER, type AdvisorInput } from './advisor-spec.js';
import type { TemplateParams, TemplateRenderer } from './template.js';
import {
  checkNamedValues,
  configureText,
  SystemSpec,
  toSystemMessage,
  toUserMessage,
  UserSpec,
  type TextInput,
  type TextState,
} from './text-spec.js';

/** Creates the tool-calling advisor that a client registers automatically. */
export type ToolLoopFactory = (options: { readonly keepHistory: boolean }) => Advisor;

/** Tools, tool providers, or collections of both. */
export type ToolInput = Tool | ToolProvider | readonly ToolInput[];

/** A system text, or a function that builds one. */
export type SystemInput = TextInput<SystemSpec>;

/** A user text, parts, or a function that builds one. */
export type UserInput = TextInput<UserSpec> | readonly ContentPart[];

/** The defaults of a client, or the settings of a request. Immutable: setters return a copy. */
export interface RequestSettings {
  readonly model: ChatModel;
  readonly toolLoop: ToolLoopFactory;
  readonly renderer: TemplateRenderer;
  readonly system: TextState;
  readonly user: TextState;
  readonly messages: readonly Message[];
  readonly options: ChatOptions;
  readonly tools: readonly Tool[];
  /** Tool providers, with their position in the tool list. */
  readonly providers: readonly PlacedProvider[];
  readonly toolContext: ToolContextValues;
  readonly advisors: readonly Advisor[];
  readonly params: AdvisorContext;
  readonly signal?: AbortSignal;
  readonly chains: ChainCache;
}

/** Checks the input of a setter, whose name begins error messages, and adds it to a copy. */
type Setter<Input> = (settings: RequestSettings, input: Input, where: string) => RequestSettings;

export function setSystem(
  settings: RequestSettings,
  input: SystemInput,
  params: TemplateParams | undefined,
  where: string,
): RequestSettings {
  const system = configureText(SystemSpec, settings.system, input, params, where);
  return { ...settings, system };
}

export function setUser(
  settings: RequestSettings,
  input: UserInput,
  params: TemplateParams | undefined,
  where: string,
): RequestSettings {
  const build = Array.isArray(input)
    ? (spec: UserSpec) => spec.part(...(input as readonly ContentPart[]))
    : (input as TextInput<UserSpec>);
  const user = configureText(UserSpec, settings.user, build, params, where);
  return { ...settings, user };
}

export const addMessages: Setter<readonly Message[]> = (settings, messages, where) => {
  messages.forEach((message, at) => checkMessage(message, `${where}: message ${at}`));
  return { ...settings, messages: [...settings.messages, ...messages] };
};

/** Sets options on top of those so far; tools and tool context among them are stored apart. */
export const addOptions: Setter<ChatOptions> = (settings, options, where) => {
  checkChatOptions(options, where);
  const { tools, toolContext, ...rest } = options;
  const changed = { ...settings, options: mergeOptions(settings.options, rest) };
  const withTools = tools ? addTools(changed, tools as readonly Tool[], where) : changed;
  return toolContext ? addToolContext(withTools, [toolContext], where) : withTools;
};

export const addTools: Setter<readonly ToolInput[]> = (settings, inputs, where) => {
  const tools = [...settings.tools];
  const providers = [...settings.providers];
  const addTool = (input: ToolInput): void => {
    if (Array.isArray(input)) return (input as readonly ToolInput[]).forEach(addTool);
    if (isToolProvider(input)) {
      checkToolProvider(input, where);
      providers.push({ provider: input, at: tools.length });
    } else {
      checkTool(input, where);
      tools.push(input);
    }
  };
  inputs.forEach(addTool);
  toolsByName(tools); // rejects a duplicate name now, not at the first call
  return { ...settings, tools, providers };
};

export const addToolContext: Setter<ToolContextInput<unknown>> = (settings, input, where) => {
  const values = toolContextValues(input, where);
  checkNamedValues(where, 'values', values);
  return { ...settings, toolContext: { ...settings.toolContext, ...values } };
};

export const addAdvisors: Setter<readonly AdvisorInput[]> = (settings, inputs, where) => {
  let spec = new AdvisorSpec(settings.advisors, settings.params, where);
  for (const input of inputs) {
    spec = typeof input === 'function' ? input(spec) : spec.advisors(input);
    if (!(spec instanceof AdvisorSpec))
      throw new InvalidArgumentError(
        `${where}: the function must return the spec it was given, as in (a) => a.param(key, value)`,
      );
  }
  return { ...settings, advisors: spec.added, params: spec.context };
};

export const setSignal: Setter<AbortSignal> = (settings, signal, where) => {
  checkOption(where, 'signal', signal, SIGNAL);
  return { ...settings, signal };
};

const SIGNAL = rule(
  'an AbortSignal',
  (value) => typeof (value as Partial<AbortSignal> | null)?.aborted === 'boolean',
);

/** Creates the request of one run. */
export function toRequest(
  settings: RequestSettings,
  mode: 'call' | 'stream',
  cancellation: Cancellable,
): ChatClientRequest {
  const { renderer, options, tools, toolContext, params: context } = settings;
  const system = toSystemMessage(settings.system, renderer);
  const messages = [...system, ...settings.messages, ...toUserMessage(settings.user, renderer)];
  if (messages.length === 0)
    throw new InvalidArgumentError(
      'the prompt has no messages; add one with prompt(text), user(…), system(…) or messages(…)',
    );
  const prompt = new Prompt(MessageLog.of(messages), options);
  return new ChatClientRequest({ prompt, mode, cancellation, tools, toolContext, context });
}

/** The advisors of a request, including the tool loop that is registered automatically. */
export function advisorsOf({ advisors, toolLoop, params }: RequestSettings): readonly Advisor[] {
  const hasLoop = advisors.some((advisor) => advisor.role === 'tool-loop');
  if (hasLoop || !params.get(TOOL_CALLING_AUTO_REGISTER)) return advisors;
  const loop = toolLoop({ keepHistory: true });
  const hasMemoryInside = advisors.some(
    (advisor) => advisor.role === 'chat-memory' && advisor.order > loop.order,
  );
  return [...advisors, hasMemoryInside ? toolLoop({ keepHistory: false }) : loop];
}

/** The chains of a client, each built once per list of advisors. */
export class ChainCache {
  private readonly withLoop = new WeakMap<readonly Advisor[], AdvisorHandler>();
  private readonly withoutLoop = new WeakMap<readonly Advisor[], AdvisorHandler>();

  of(settings: RequestSettings): AdvisorHandler {
    const { advisors, params, model } = settings;
    const built = params.get(TOOL_CALLING_AUTO_REGISTER) ? this.withLoop : this.withoutLoop;
    const known = built.get(advisors);
    if (known) return known;
    const chain = createAdvisorChain(advisorsOf(settings), model);
    built.set(advisors, chain);
    return chain;
  }
}
