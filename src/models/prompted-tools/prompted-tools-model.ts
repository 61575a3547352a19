import type { ChatEvent } from '../../core/chat/chat-event.js';
import type { ChatModel, ModelProvider, ModelRun } from '../../core/chat/chat-model.js';
import {
  frozenOptions,
  withModelDefaults,
  type ChatOptions,
} from '../../core/chat/chat-options.js';
import type { ChatResponse } from '../../core/chat/chat-response.js';
import { callsOf, type Message } from '../../core/chat/message.js';
import { Prompt } from '../../core/chat/prompt.js';
import type { OfferedTool } from '../../core/chat/tool-definition.js';
import { InvalidArgumentError } from '../../core/errors/errors.js';
import { cancelledError, onRunCancel } from '../../core/internal/cancellation.js';
import { memoize } from '../../core/internal/memoize.js';
import {
  checkOptions,
  FUNCTION,
  integer,
  oneOf,
  required,
  withMethods,
} from '../../core/internal/options.js';
import { Observable } from '../../core/internal/rxjs.js';
import { allowedTools, countUses, Offer } from './offer.js';
import { instructionsFor, quotableTexts, toPlainMessages } from './plain-prompt.js';
import { syntaxFor, type PlanFormat } from './plan-syntax.js';
import { PromptedRun, type PromptedRequest, type RunSettings } from './prompted-run.js';

/** Input of a selection of tools, besides the tools. */
export interface ToolSelection {
  readonly prompt: Prompt;
  /** Number of calls of each tool in the conversation, by name. */
  readonly uses: ReadonlyMap<string, number>;
}

/** Options of a {@link PromptedToolsModel}. */
export interface PromptedToolsModelOptions {
  /** The model without tool calling. */
  readonly model: ChatModel;
  /**
   * Form of a call in the text of the model: a JSON object, JSON in tags, or lines that begin with
   * `Action:`.
   * @default 'json'
   */
  readonly format?: PlanFormat | undefined;
  /** Maximum number of requests for one answer, >= 1: the first and those that ask again. @default 3 */
  readonly maxRounds?: number | undefined;
  /** Maximum number of characters from the beginning of a plan to its end, >= 1. @default 1_000_000 */
  readonly maxPlanLength?: number | undefined;
  /**
   * Returns the tools to describe, in order: fewer tools make short prompts. The others cannot be
   * called by this answer.
   * @default all tools in their order
   */
  readonly selectTools?:
    | ((tools: readonly OfferedTool[], selection: ToolSelection) => readonly OfferedTool[])
    | undefined;
}

const NAME = 'PromptedToolsModel';
const TOOL_OPTIONS: ReadonlySet<string> = new Set(
  'tools toolChoice parallelToolCalls strictTools'.split(' '),
);
const FORMAT_OPTIONS: ReadonlySet<string> = new Set(['responseFormat']);
const RULES = {
  model: required(withMethods('a chat model', 'call', 'stream')),
  format: oneOf('json', 'tagged', 'react'),
  maxRounds: integer(1),
  maxPlanLength: integer(1),
  selectTools: FUNCTION,
};

/**
 * A model that calls tools by text, around one without tool calling: it describes the tools, checks
 * what the model wrote, asks again if needed, and answers with tool calls.
 */
export class PromptedToolsModel implements ChatModel {
  readonly defaultOptions: ChatOptions;
  readonly provider: ModelProvider | undefined;
  readonly systemMessages: ChatModel['systemMessages'];
  private readonly format: PlanFormat;
  private readonly settings: RunSettings;
  private readonly selectTools: PromptedToolsModelOptions['selectTools'];
  // equal input gives the same object, by which models cache
  private readonly withoutTools = memoize((options: ChatOptions): ChatOptions => {
    const rest = without(options, TOOL_OPTIONS);
    // the model behind would add its own again
    return frozenOptions(this.defaultOptions.tools ? { ...rest, tools: [] } : rest);
  });
  private readonly asText = memoize((options: ChatOptions): ChatOptions => {
    const rest = without(this.withoutTools(options), FORMAT_OPTIONS);
    const { responseFormat } = this.defaultOptions;
    return frozenOptions(responseFormat ? { ...rest, responseFormat: 'text' } : rest);
  });

  /** @throws {@link InvalidArgumentError} if an option is invalid */
  constructor(options: PromptedToolsModelOptions) {
    checkOptions(NAME, options, RULES);
    const { model, format = 'json', maxRounds = 3, maxPlanLength = 1_000_000 } = options;
    this.defaultOptions = model.defaultOptions ?? {};
    this.provider = model.provider;
    this.systemMessages = model.systemMessages;
    this.format = format;
    this.settings = { model, maxRounds, maxPlanLength };
    this.selectTools = options.selectTools;
  }

  async call(prompt: Prompt, run: ModelRun = {}): Promise<ChatResponse> {
    const request = this.toRequest(prompt);
    if (request instanceof Prompt) return this.settings.model.call(request, run);
    return new Promise((resolve, reject) => {
      this.events(request, 'call', run).subscribe({
        next: (event) => {
          if (event.type === 'response') resolve(event.response);
        },
        error: reject,
      });
    });
  }

  stream(prompt: Prompt, run: ModelRun = {}): Observable<ChatEvent> {
    return new Observable((subscriber) => {
      const request = this.toRequest(prompt);
      return request instanceof Prompt
        ? this.settings.model.stream(request, run).subscribe(subscriber)
        : this.events(request, 'stream', run).subscribe(subscriber);
    });
  }

  private events(
    request: PromptedRequest,
    mode: 'call' | 'stream',
    run: ModelRun,
  ): Observable<ChatEvent> {
    return new Observable((subscriber) => {
      subscriber.add(onRunCancel(run, (cause) => subscriber.error(cancelledError(cause))));
      if (!subscriber.closed)
        new PromptedRun(request, this.settings, mode, run, subscriber).start();
    });
  }

  /** The request as text; without tools and earlier calls the prompt, at most with fewer options. */
  private toRequest(prompt: Prompt): PromptedRequest | Prompt {
    const options = withModelDefaults(this.defaultOptions, prompt.options);
    const { messages } = prompt;
    if (!options.tools?.length && !messages.some(hasCalls)) return prompt;
    const offer = new Offer(this.select(prompt, options), options);
    if (offer.tools.length === 0 && !messages.some(hasCalls))
      return prompt.replaceOptions(this.withoutTools(prompt.options));
    const syntax = syntaxFor(this.format, quotableTexts(messages, offer.tools));
    const instructions = instructionsFor(offer, syntax, options.responseFormat);
    const plain = prompt
      .withMessages(toPlainMessages(messages, syntax))
      .augmentSystemMessage((text) => [text, instructions].filter(Boolean).join('\n\n'))
      .replaceOptions(this.asText(prompt.options));
    return { prompt: plain, syntax, offer };
  }

  /** @throws {@link InvalidArgumentError} if a tool is not one of those that are offered */
  private select(prompt: Prompt, { tools = [], toolChoice }: ChatOptions): readonly OfferedTool[] {
    const allowed = allowedTools(tools, toolChoice);
    if (!this.selectTools || allowed.length === 0 || typeof toolChoice === 'object') return allowed;
    const selected = this.selectTools(allowed, { prompt, uses: countUses(prompt.messages) });
    const isArray: boolean = Array.isArray(selected);
    const known = new Set(allowed);
    if (isArray && selected.every((tool) => known.has(tool))) return selected;
    throw new InvalidArgumentError(
      `${NAME}: selectTools must return an array of tools that it was given`,
    );
  }
}

function without(options: ChatOptions, names: ReadonlySet<string>): ChatOptions {
  return Object.fromEntries(Object.entries(options).filter(([name]) => !names.has(name)));
}

function hasCalls(message: Message): boolean {
  return message.role === 'assistant' && callsOf(message).length > 0;
}
