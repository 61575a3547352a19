import type { ChatEvent } from '../chat/chat-event.js';
import type { ChatModel } from '../chat/chat-model.js';
import { frozenOptions, type ChatOptions } from '../chat/chat-options.js';
import type { ChatResponse } from '../chat/chat-response.js';
import type { Prompt } from '../chat/prompt.js';
import { callsOf, type Message, type ToolMessage } from '../chat/message.js';
import { memoize } from '../internal/memoize.js';
import { checkOption, integer, rule, withMethods } from '../internal/options.js';
import { shortName, uniqueNames, type ToolDefinition } from '../chat/tool-definition.js';
import { InvalidArgumentError } from '../errors/errors.js';
import { Observable, Subscriber } from '../internal/rxjs.js';
import { isTool } from './tool.js';

const WHERE = 'withToolNames';
const CHAT_MODEL = withMethods('a ChatModel', 'call', 'stream');
const REG_EXP = rule('a RegExp', (value) => value instanceof RegExp);

/** Tool names that a model accepts. */
export interface ToolNameRule {
  /** Maximum number of characters, >= 16. @default 64 */
  readonly maxLength?: number | undefined;
  /** Matches one allowed character; must match "_". @default letters, digits, "_" and "-" */
  readonly allowed?: RegExp | undefined;
}

/**
 * Wraps a model so that it receives other names for tools whose names it rejects (`maps_search` for
 * `maps.search`); its calls carry the real names again. The new name depends on the old one alone,
 * not on other tools.
 * @throws {@link InvalidArgumentError} if the rule is invalid
 */
export function withToolNames(model: ChatModel, rule: ToolNameRule = {}): ChatModel {
  checkOption(WHERE, 'model', model, CHAT_MODEL);
  const names = new ToolNames(rule);
  return {
    get defaultOptions() {
      return model.defaultOptions;
    },
    get provider() {
      return model.provider;
    },
    get systemMessages() {
      return model.systemMessages;
    },
    call: async (prompt, run) => {
      const { options, back } = names.sentOptions(prompt.options);
      return restoreResponse(await model.call(names.sentPrompt(prompt, options), run), back);
    },
    stream: (prompt, run) => {
      const { options, back } = names.sentOptions(prompt.options);
      const events = model.stream(names.sentPrompt(prompt, options), run);
      if (back.size === 0) return events;
      return new Observable((subscriber) => events.subscribe(new RestoredEvents(back, subscriber)));
    },
  };
}

/** Options with the names for the model, and the real names by them. */
interface SentOptions {
  readonly options: ChatOptions;
  readonly back: ReadonlyMap<string, string>;
}

class ToolNames {
  private readonly maxLength: number;
  private readonly allowed: RegExp;
  /** Models cache by options object, so equal input must give the same object. */
  readonly sentOptions = memoize((options: ChatOptions) => this.renameIn(options));

  constructor({ maxLength = 64, allowed = /[a-zA-Z0-9_-]/ }: ToolNameRule) {
    checkOption(WHERE, 'maxLength', maxLength, integer(16));
    checkOption(WHERE, 'allowed', allowed, REG_EXP);
    this.maxLength = maxLength;
    this.allowed = new RegExp(`^(?:${allowed.source})$`, allowed.flags.replaceAll(/[gy]/g, ''));
    if (!this.allowed.test('_'))
      throw new InvalidArgumentError(
        `${WHERE}: allowed must match "_", which replaces all other characters`,
      );
  }

  sentPrompt(prompt: Prompt, options: ChatOptions): Prompt {
    const { messages } = prompt;
    const finders = findersOf(prompt.options);
    const sent = messages.map((message) => this.sentMessage(message, finders));
    if (sent.some((message, at) => message !== messages[at]))
      return prompt.withMessages(sent).replaceOptions(options);
    return options === prompt.options ? prompt : prompt.replaceOptions(options);
  }

  private renameIn(options: ChatOptions): SentOptions {
    const { tools = [], toolChoice } = options;
    const names = tools.map(({ definition }) => definition.name);
    const renamed = uniqueNames(names, (name) => this.sentName(name), WHERE);
    const choice = typeof toolChoice === 'object' ? this.sentName(toolChoice.tool) : undefined;
    const isSame = choice === undefined || choice === (toolChoice as { tool: string }).tool;
    if (isSame && renamed.every((name, at) => name === names[at]))
      return { options, back: new Map() };
    const sent = tools.map(({ definition }, at) => ({
      definition: { ...definition, name: renamed[at] as string },
    }));
    const back = new Map(renamed.map((name, at) => [name, names[at] as string]));
    const toolChoiceSent = choice === undefined ? {} : { toolChoice: { tool: choice } };
    return { options: frozenOptions({ ...options, tools: sent, ...toolChoiceSent }), back };
  }

  /** The result of a tool that finds others, with the names that the model knows. */
  private sentResult(content: ToolMessage['content']): ToolMessage['content'] {
    const found = typeof content === 'string' ? parsed(content) : undefined;
    if (!Array.isArray(found)) return content;
    const sent = (found as readonly Partial<ToolDefinition>[]).map((one) => {
      const name = typeof one?.name === 'string' ? this.sentName(one.name) : undefined;
      return name === undefined || name === one.name ? one : { ...one, name };
    });
    return sent.every((one, at) => one === found[at]) ? content : JSON.stringify(sent);
  }

  private sentName(name: string): string {
    return shortName(
      Array.from(name, (character) => (this.allowed.test(character) ? character : '_')).join(''),
      this.maxLength,
    );
  }

  private sentMessage(message: Message, finders: ReadonlySet<string>): Message {
    if (message.role === 'tool') {
      const toolName = this.sentName(message.toolName);
      const content = finders.has(message.toolName)
        ? this.sentResult(message.content)
        : message.content;
      const isSame = toolName === message.toolName && content === message.content;
      return isSame ? message : { ...message, toolName, content };
    }
    if (message.role !== 'assistant') return message;
    const toolCalls = callsOf(message).map((call) => ({
      ...call,
      name: this.sentName(call.name),
    }));
    const isSame = toolCalls.every(({ name }, at) => name === callsOf(message)[at]?.name);
    return isSame ? message : { ...message, toolCalls };
  }
}

/** Names of the tools whose results contain names of tools. */
const findersOf = memoize(
  ({ tools = [] }: ChatOptions): ReadonlySet<string> =>
    new Set(
      tools
        .filter((tool) => isTool(tool) && tool.metadata.findsTools)
        .map(({ definition }) => definition.name),
    ),
);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // a result in prose
  }
}

class RestoredEvents extends Subscriber<ChatEvent> {
  constructor(
    private readonly back: ReadonlyMap<string, string>,
    private readonly subscriber: Subscriber<ChatEvent>,
  ) {
    super(subscriber);
  }

  protected override _next(event: ChatEvent): void {
    const { back } = this;
    if (event.type === 'response')
      this.subscriber.next({ ...event, response: restoreResponse(event.response, back) });
    else if (event.type === 'tool-call-delta' && event.name !== undefined)
      this.subscriber.next({ ...event, name: back.get(event.name) ?? event.name });
    else this.subscriber.next(event);
  }
}

function restoreResponse(response: ChatResponse, back: ReadonlyMap<string, string>): ChatResponse {
  if (back.size === 0 || !response.hasToolCalls()) return response;
  const generations = response.generations.map((generation) => {
    const toolCalls = callsOf(generation.message).map((call) => ({
      ...call,
      name: back.get(call.name) ?? call.name,
    }));
    return { ...generation, message: { ...generation.message, toolCalls } };
  });
  return response.with({ generations });
}
