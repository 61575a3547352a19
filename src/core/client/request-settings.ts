import { createAdvisorChain } from '../advisor/advisor-chain.js';
import type { Advisor } from '../advisor/advisor.js';
import { CHAT_MODEL, ChatClientRequest, defaultsOf } from '../advisor/chat-client-request.js';
import type { ChainRest } from '../advisor/position.js';
import type { ChatModel } from '../chat/chat-model.js';
import type { ChatOptions, ToolContextValues } from '../chat/chat-options.js';
import { AdvisorContext } from '../chat/context.js';
import type { Message } from '../chat/message.js';
import type { PriceOfCall } from '../chat/price.js';
import { MessageLog, Prompt } from '../chat/prompt.js';
import type { ResumeDecisions } from '../chat/paused-turn.js';
import type { RunRecord } from '../chat/run-record.js';
import { InvalidArgumentError } from '../errors/errors.js';
import type { Cancellable } from '../internal/cancellation.js';
import { memoize } from '../internal/memoize.js';
import { checkOption } from '../internal/options.js';
import { checkTool, toolsByName, toolsOfOneName } from '../tool/check-tool.js';
import { methodTools } from '../tool/tool-decorator.js';
import {
  checkToolProvider,
  isToolProvider,
  type PlacedProvider,
  type ToolProvider,
} from '../tool/tool-provider.js';
import type { Tool } from '../tool/tool.js';
import { TOOL_CALLING_AUTO_REGISTER } from './advisor-spec.js';
import { renderTemplate, type TemplateRenderer } from './template.js';
import { NO_TEXT, toSystemMessage, toUserMessage, type TextState } from './text-spec.js';
import { Warnings } from './warnings.js';

/** Creates the tool-calling advisor that a client registers automatically. */
export type ToolLoopFactory = (options: { readonly keepHistory: boolean }) => Advisor;

/** An object, or a class, with methods that are decorated with `@Tool`. */
type DecoratedObject = object & { readonly definition?: never };

/** Tools, tool providers, objects with decorated methods, or collections of them. */
export type ToolInput = Tool | ToolProvider | DecoratedObject | readonly ToolInput[];

/** Rejects a record of tools, as other libraries take them: each tool has its name already. */
export type WithoutRecords<I extends readonly ToolInput[]> = ToolInput extends I[number]
  ? unknown
  : [Extract<I[number], Readonly<Record<string, Tool>>>] extends [never]
    ? unknown
    : readonly Tool[];

/** The types of the tools in inputs; any tool if an input is none but provides tools. */
export type ToolIn<I> = I extends readonly (infer Item)[]
  ? ToolInput extends Item
    ? Tool
    : ToolIn<Item>
  : I extends Tool
    ? I
    : Tool;

/** A paused turn that a request resumes. */
export interface Resume {
  readonly state: string;
  readonly decisions: ResumeDecisions;
}

/** The defaults of a client, or the settings of a request. */
export interface RequestSettings {
  readonly model: ChatModel;
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
  readonly price?: PriceOfCall | undefined;
  readonly warnings: Warnings;
  readonly signal?: AbortSignal | undefined;
  readonly turnId?: string | undefined;
  /** The paused turn to resume; its messages replace the messages of the settings. */
  readonly resume?: Resume | undefined;
  /** Adds the tool loop to advisors that have none; memoized, like the chain of advisors. */
  readonly withToolLoop: (advisors: readonly Advisor[]) => readonly Advisor[];
  readonly chainOf: (advisors: readonly Advisor[]) => ChainRest;
}

/** The settings of a client without defaults. */
export function initialSettings(model: ChatModel, toolLoop: ToolLoopFactory): RequestSettings {
  checkOption('ChatClient', 'model', model, CHAT_MODEL);
  const { options, tools, toolContext } = defaultsOf(model);
  return {
    model,
    renderer: renderTemplate,
    system: NO_TEXT,
    user: NO_TEXT,
    messages: [],
    options,
    tools: Object.freeze(tools),
    providers: [],
    toolContext: Object.freeze({ ...toolContext }),
    advisors: [],
    params: AdvisorContext.empty,
    warnings: new Warnings(),
    withToolLoop: memoize((advisors) => withToolLoop(advisors, toolLoop)),
    chainOf: memoize((advisors) => createAdvisorChain(advisors, model)),
  };
}

function withToolLoop(advisors: readonly Advisor[], toolLoop: ToolLoopFactory): readonly Advisor[] {
  if (advisors.some((advisor) => advisor.role === 'tool-loop')) return advisors;
  const loop = toolLoop({ keepHistory: true });
  const hasMemoryInside = advisors.some(
    (advisor) => advisor.role === 'chat-memory' && advisor.order > loop.order,
  );
  return [...advisors, hasMemoryInside ? toolLoop({ keepHistory: false }) : loop];
}

/** The advisors of a request, including the tool loop that is registered automatically. */
export function advisorsOf(settings: RequestSettings): readonly Advisor[] {
  const { advisors, params } = settings;
  return params.get(TOOL_CALLING_AUTO_REGISTER) ? settings.withToolLoop(advisors) : advisors;
}

/** The tools and providers of the settings, and more of them. */
export function addTools(
  settings: RequestSettings,
  inputs: readonly ToolInput[],
): Pick<RequestSettings, 'tools' | 'providers'> {
  const tools = [...settings.tools];
  const providers = [...settings.providers];
  const addTool = (input: ToolInput): void => {
    if (Array.isArray(input)) return (input as readonly ToolInput[]).forEach(addTool);
    const { definition } = (input ?? {}) as Partial<Tool>;
    const methods = definition ? [] : methodTools(input);
    if (methods.length > 0) {
      tools.push(...methods);
    } else if (isToolProvider(input)) {
      checkToolProvider(input, 'tools(…)');
      providers.push({ provider: input, at: tools.length });
    } else {
      checkTool(input, 'tools(…)');
      tools.push(input);
    }
  };
  inputs.forEach(addTool);
  checkNames(tools, settings.model);
  return { tools: Object.freeze(tools), providers };
}

/** The tools of a request; undefined if it has none yet, or gets some of providers. */
export function knownTools({ tools, providers }: RequestSettings): readonly Tool[] | undefined {
  return tools.length > 0 && providers.length === 0 ? tools : undefined;
}

/** Rejects a duplicate name now, not at the first call. */
function checkNames(tools: readonly Tool[], { defaultOptions }: ChatModel): void {
  const [tool] = toolsOfOneName(tools) ?? [];
  if (tool && defaultOptions?.tools?.includes(tool))
    throw new InvalidArgumentError(
      `two tools have the same name: ${tool.definition.name}, one of the model's default options, one of the request. Rename one of them or leave it out.`,
    );
  toolsByName(tools);
}

/** Creates the request of one run. */
export function toRequest(
  settings: RequestSettings,
  mode: 'call' | 'stream',
  cancellation: Cancellable,
  run: RunRecord,
): ChatClientRequest {
  const { renderer, options, tools, toolContext, params: context, turnId } = settings;
  const system = toSystemMessage(settings.system, renderer);
  const messages = [...system, ...settings.messages, ...toUserMessage(settings.user, renderer)];
  if (messages.length === 0)
    throw new InvalidArgumentError(
      'the prompt has no messages; add one with prompt(text), user(…), system(…) or messages(…)',
    );
  const prompt = new Prompt(MessageLog.of(messages), options);
  return new ChatClientRequest({
    prompt,
    mode,
    cancellation,
    tools,
    toolContext,
    context,
    turnId,
    model: settings.model,
    run,
  });
}
