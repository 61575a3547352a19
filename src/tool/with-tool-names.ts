import type { ChatEvent } from '../chat/chat-event.js';
import type { ChatModel } from '../chat/chat-model.js';
import type { ChatOptions } from '../chat/chat-options.js';
import type { ChatResponse } from '../chat/chat-response.js';
import { MessageLog, type MessageFold } from '../chat/message-log.js';
import { describe, type Message } from '../chat/message.js';
import { Prompt } from '../chat/prompt.js';
import type { OfferedTool } from '../chat/tool-definition.js';
import { InvalidArgumentError } from '../errors.js';
import { map } from '../rxjs.js';
import { shortName, uniqueNames } from './portable-names.js';

/** Which names of tools a model takes. */
export interface ToolNameRule {
  /** Most characters, 16 or more. @default 64 */
  readonly maxLength?: number | undefined;
  /** What a single character may be. @default letters, digits, "_" and "-" */
  readonly allowed?: RegExp | undefined;
}

/**
 * A model that is sent other names for tools whose names it would refuse (`maps_search` for `maps.search`), and whose calls come back
 * with the real ones. Everything but the model sees the real names. A name becomes the same whatever other tools there are.
 * @throws {@link InvalidArgumentError} if the rule cannot be used
 */
export function withToolNames(model: ChatModel, rule: ToolNameRule = {}): ChatModel {
  if (typeof model?.call !== 'function' || typeof model.stream !== 'function')
    throw new InvalidArgumentError(`withToolNames: expected a ChatModel, not ${describe(model)}`);
  const names = new ToolNames(rule);
  return {
    get defaultOptions() {
      return model.defaultOptions;
    },
    call: async (prompt, run) => {
      const back = names.ofTools(prompt.options).back;
      return restoreResponse(await model.call(names.send(prompt), run), back);
    },
    stream: (prompt, run) => {
      const back = names.ofTools(prompt.options).back;
      return model.stream(names.send(prompt), run).pipe(map((event) => restoreEvent(event, back)));
    },
  };
}

/** The options as the model is sent them, and the real names by those that were sent. */
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
  /** A model keeps what it derives from options, so the same options must become the same. */
  private readonly sent = new WeakMap<ChatOptions, SentOptions>();

  constructor({ maxLength = 64, allowed = /[a-zA-Z0-9_-]/ }: ToolNameRule) {
    if (!Number.isInteger(maxLength) || maxLength < 16)
      throw new InvalidArgumentError(`withToolNames: maxLength must be an integer of 16 or more, not ${describe(maxLength)}`);
    if (!(allowed instanceof RegExp)) throw new InvalidArgumentError(`withToolNames: allowed must be a RegExp, not ${describe(allowed)}`);
    this.maxLength = maxLength;
    this.allowed = new RegExp(`^(?:${allowed.source})$`, allowed.flags.replaceAll(/[gy]/g, ''));
    if (!this.allowed.test('_'))
      throw new InvalidArgumentError('withToolNames: allowed must accept "_", which takes the place of all other characters');
  }

  send(prompt: Prompt): Prompt {
    const { options } = this.ofTools(prompt.options);
    const { log, changed } = prompt.fold(this.messages);
    if (changed) return new Prompt(log, options);
    return options === prompt.options ? prompt : prompt.replaceOptions(options);
  }

  ofTools(options: ChatOptions): SentOptions {
    let sent = this.sent.get(options);
    if (!sent) this.sent.set(options, (sent = this.change(options)));
    return sent;
  }

  private change(options: ChatOptions): SentOptions {
    const { tools = [], toolChoice } = options;
    const names = tools.map(({ definition }) => definition.name);
    const renamed = uniqueNames(names, (name) => this.sentName(name), 'withToolNames');
    const choice = typeof toolChoice === 'object' ? { tool: this.sentName(toolChoice.tool) } : toolChoice;
    if (renamed.every((name, at) => name === names[at]) && sameChoice(choice, toolChoice)) return { options, back: NO_NAMES };
    const changed = tools.map((tool, at) => withName(tool, renamed[at] as string));
    const back = new Map(renamed.map((name, at) => [name, names[at] as string]));
    return { options: { ...options, tools: changed, ...(choice && { toolChoice: choice }) }, back };
  }

  private sentName(name: string): string {
    return shortName(Array.from(name, (character) => (this.allowed.test(character) ? character : '_')).join(''), this.maxLength);
  }

  /** The same function each time: prompts that grow from one another look at each message once. */
  private readonly messages: MessageFold<SentMessages> = (before, added) => {
    const sent = added.map((message) => this.message(message));
    const changed = sent.some((message, at) => message !== added[at]);
    return { log: before ? before.log.append(sent) : MessageLog.of(sent), changed: changed || before?.changed === true };
  };

  private message(message: Message): Message {
    if (message.role === 'tool') {
      const toolName = this.sentName(message.toolName);
      return toolName === message.toolName ? message : { ...message, toolName };
    }
    if (message.role !== 'assistant' || message.toolCalls.every(({ name }) => this.sentName(name) === name)) return message;
    return { ...message, toolCalls: message.toolCalls.map((call) => ({ ...call, name: this.sentName(call.name) })) };
  }
}

const NO_NAMES: ReadonlyMap<string, string> = new Map();

function sameChoice(a: ChatOptions['toolChoice'], b: ChatOptions['toolChoice']): boolean {
  return typeof a === 'object' && typeof b === 'object' ? a.tool === b.tool : a === b;
}

function withName({ definition }: OfferedTool, name: string): OfferedTool {
  return { definition: { ...definition, name } };
}

function restoreEvent(event: ChatEvent, back: ReadonlyMap<string, string>): ChatEvent {
  if (back.size === 0) return event;
  if (event.type === 'response') return { ...event, response: restoreResponse(event.response, back) };
  if (event.type !== 'tool-call-delta' || event.name === undefined) return event;
  return { ...event, name: back.get(event.name) ?? event.name };
}

function restoreResponse(response: ChatResponse, back: ReadonlyMap<string, string>): ChatResponse {
  if (back.size === 0 || !response.hasToolCalls()) return response;
  const generations = response.generations.map((generation) => {
    const toolCalls = generation.message.toolCalls.map((call) => ({ ...call, name: back.get(call.name) ?? call.name }));
    return { ...generation, message: { ...generation.message, toolCalls } };
  });
  return response.with({ generations });
}
