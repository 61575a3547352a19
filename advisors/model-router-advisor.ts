import { AdvisorOrder, type Advisor } from '../src/core/advisor/advisor.js';
import { placeOf, type AdvisorPlace } from '../src/core/advisor/advisor-place.js';
import { CHAT_MODEL, type ChatClientRequest } from '../src/core/advisor/chat-client-request.js';
import type { ChatModel } from '../src/core/chat/chat-model.js';
import { callsOf, type Message, textOf } from '../src/core/chat/message.js';
import { OUTPUT_FORMAT } from '../src/core/chat/output-format.js';
import { InvalidArgumentError } from '../src/core/errors/errors.js';
import {
  checkOption,
  FUNCTION,
  isPlainObject,
  required,
  rule,
} from '../src/core/internal/options.js';
import { describe } from '../src/core/errors/describe.js';

/** Needs of a request that its model must meet. */
export interface ModelNeeds {
  /** Length of all texts of the messages, calls and results included; a token has about 4. */
  readonly characters: number;
  /** True if a message has an image, audio or a file. */
  readonly media: boolean;
  /** True if tools are offered. */
  readonly tools: boolean;
  /** True if the answer must fit a schema. */
  readonly schema: boolean;
}

/** Options of a {@link ModelRouterAdvisor}. */
export interface ModelRouterAdvisorOptions<Name extends string = string> extends AdvisorPlace {
  /** The models to choose from, by name. */
  readonly models: Readonly<Record<Name, ChatModel>>;
  /** Returns the name of a model, or undefined for the model that the request has. */
  readonly choose: (
    needs: ModelNeeds,
    request: ChatClientRequest,
  ) => NoInfer<Name> | undefined | Promise<NoInfer<Name> | undefined>;
  /**
   * Position: before the tool loop it chooses once per turn, within it once per iteration.
   * @default AdvisorOrder.TOOL_CALLING - 100
   */
  readonly order?: number | undefined;
}

const NAME = 'ModelRouterAdvisor';
const MODELS = rule(
  'an object with at least one chat model',
  (value) => isPlainObject(value) && Object.keys(value).length > 0,
);
const RULES = { models: required(MODELS), choose: required(FUNCTION) };

/**
 * Sends requests to one of several models. The choice is the `model` of `iteration-start` events, of
 * the ledger and of spans.
 */
export class ModelRouterAdvisor<Name extends string = string> implements Advisor {
  readonly name: string;
  readonly order: number;
  readonly traits = ['chooses-model'] as const;
  private readonly models: ReadonlyMap<unknown, ChatModel>;

  /** @throws {@link InvalidArgumentError} if an option is invalid */
  constructor(private readonly options: ModelRouterAdvisorOptions<Name>) {
    const place = { name: 'model-router', order: AdvisorOrder.TOOL_CALLING - 100 };
    ({ name: this.name, order: this.order } = placeOf(NAME, options, RULES, place));
    this.models = new Map<unknown, ChatModel>(Object.entries(options.models));
    for (const [name, model] of this.models)
      checkOption(NAME, `models.${String(name)}`, model, CHAT_MODEL);
  }

  async before(request: ChatClientRequest): Promise<ChatClientRequest> {
    const chosen = await this.options.choose(needsOf(request), request);
    return chosen === undefined ? request : request.withModel(this.modelOf(chosen));
  }

  /** @throws {@link InvalidArgumentError} if there is no model of this name */
  private modelOf(name: unknown): ChatModel {
    const model = this.models.get(name);
    if (model) return model;
    const names = [...this.models.keys()].map(describe).join(', ');
    throw new InvalidArgumentError(
      `advisor "${this.name}": choose must return one of ${names} or undefined, not ${describe(name)}`,
    );
  }
}

/** A {@link ModelRouterAdvisor} with these options. */
export function modelRouter<Name extends string>(
  options: ModelRouterAdvisorOptions<Name>,
): ModelRouterAdvisor<Name> {
  return new ModelRouterAdvisor(options);
}

const MEDIA: ReadonlySet<string> = new Set(['image', 'audio', 'file']);

function needsOf({ prompt, offeredTools, context }: ChatClientRequest): ModelNeeds {
  const { messages, options } = prompt;
  return {
    characters: messages.reduce((sum, message) => sum + lengthOf(message), 0),
    media: messages.some(
      (message) =>
        message.content !== null &&
        typeof message.content !== 'string' &&
        message.content.some(({ type }) => MEDIA.has(type)),
    ),
    tools: offeredTools.length > 0,
    schema:
      context.get(OUTPUT_FORMAT)?.schema !== undefined ||
      typeof options.responseFormat === 'object',
  };
}

function lengthOf(message: Message): number {
  const text = textOf(message).length;
  return callsOf(message).reduce((sum, call) => sum + call.arguments.length, text);
}
