import type { ChatEvent } from '../chat/chat-event.js';
import type { ChatModel } from '../chat/chat-model.js';
import type { ChatOptions } from '../chat/chat-options.js';
import type { ChatResponse } from '../chat/chat-response.js';
import { MessageLog, type MessageFold, Prompt } from '../chat/prompt.js';
import type { Message } from '../chat/message.js';
import { checkOption, integer, rule, withMethods } from '../internal/options.js';
import { type OfferedTool, shortName, uniqueNames } from '../chat/tool-definition.js';
import { InvalidArgumentError } from '../errors.js';
import { Observable, Subscriber } from '../internal/rxjs.js';

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
    call: async (prompt, run) => {
      const back = names.sentOptions(prompt.options).back;
      return restoreResponse(await model.call(names.sentPrompt(prompt), run), back);
    },
    stream: (prompt, run) => {
      const back = names.sentOptions(prompt.options).back;
      const events = model.stream(names.sentPrompt(prompt), run);
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

interface SentMessages {
  readonly log: MessageLog;
  readonly changed: boolean;
}

class ToolNames {
  private readonly maxLength: number;
  private readonly allowed: RegExp;
  /** Models cache by options object, so equal input must give the same object. */
  private readonly sent = new WeakMap<ChatOptions, SentOptions>();

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

  sentPrompt(prompt: Prompt): Prompt {
    const { options } = this.sentOptions(prompt.options);
    const { log, changed } = prompt.fold(this.messages);
    if (changed) return new Prompt(log, options);
    return options === prompt.options ? prompt : prompt.replaceOptions(options);
  }

  sentOptions(options: ChatOptions): SentOptions {
    let sent = this.sent.get(options);
    if (!sent) this.sent.set(options, (sent = this.renameIn(options)));
    return sent;
  }

  private renameIn(options: ChatOptions): SentOptions {
    const { tools = [], toolChoice } = options;
    const names = tools.map(({ definition }) => definition.name);
    const renamed = uniqueNames(names, (name) => this.sentName(name), WHERE);
    const choice =
      typeof toolChoice === 'object' ? { tool: this.sentName(toolChoice.tool) } : toolChoice;
    if (renamed.every((name, at) => name === names[at]) && sameChoice(choice, toolChoice))
      return { options, back: NO_NAMES };
    const changed = tools.map((tool, at) => withName(tool, renamed[at] as string));
    const back = new Map(renamed.map((name, at) => [name, names[at] as string]));
    return { options: { ...options, tools: changed, ...(choice && { toolChoice: choice }) }, back };
  }

  private sentName(name: string): string {
    return shortName(
      Array.from(name, (character) => (this.allowed.test(character) ? character : '_')).join(''),
      this.maxLength,
    );
  }

  /**
   * One function for all prompts: a prompt that extends another one converts only the new messages.
   */
  private readonly messages: MessageFold<SentMessages> = (before, added) => {
    const sent = added.map((message) => this.sentMessage(message));
    const changed = sent.some((message, at) => message !== added[at]);
    return {
      log: before ? before.log.append(sent) : MessageLog.of(sent),
      changed: changed || before?.changed === true,
    };
  };

  private sentMessage(message: Message): Message {
    if (message.role === 'tool') {
      const toolName = this.sentName(message.toolName);
      return toolName === message.toolName ? message : { ...message, toolName };
    }
    if (
      message.role !== 'assistant' ||
      message.toolCalls.every(({ name }) => this.sentName(name) === name)
    )
      return message;
    return {
      ...message,
      toolCalls: message.toolCalls.map((call) => ({ ...call, name: this.sentName(call.name) })),
    };
  }
}

const NO_NAMES: ReadonlyMap<string, string> = new Map();

function sameChoice(a: ChatOptions['toolChoice'], b: ChatOptions['toolChoice']): boolean {
  return typeof a === 'object' && typeof b === 'object' ? a.tool === b.tool : a === b;
}

function withName({ definition }: OfferedTool, name: string): OfferedTool {
  return { definition: { ...definition, name } };
}

class RestoredEvents extends Subscriber<ChatEvent> {
  constructor(
    private readonly back: ReadonlyMap<string, string>,
    private readonly subscriber: Subscriber<ChatEvent>,
  ) {
    super(subscriber);
  }

  protected override _next(event: ChatEvent): void {
    this.subscriber.next(restoreEvent(event, this.back));
  }
}

function restoreEvent(event: ChatEvent, back: ReadonlyMap<string, string>): ChatEvent {
  if (event.type === 'response')
    return { ...event, response: restoreResponse(event.response, back) };
  if (event.type !== 'tool-call-delta' || event.name === undefined) return event;
  return { ...event, name: back.get(event.name) ?? event.name };
}

function restoreResponse(response: ChatResponse, back: ReadonlyMap<string, string>): ChatResponse {
  if (back.size === 0 || !response.hasToolCalls()) return response;
  const generations = response.generations.map((generation) => {
    const toolCalls = generation.message.toolCalls.map((call) => ({
      ...call,
      name: back.get(call.name) ?? call.name,
    }));
    return { ...generation, message: { ...generation.message, toolCalls } };
  });
  return response.with({ generations });
}
