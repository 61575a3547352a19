import { hasMedia, type ContentPart, type Message } from '../chat/message.js';
import { estimateTokens, tokensOfLength } from '../chat/estimate-tokens.js';
import type { ChatClientRequest } from './chat-client-request.js';
import { OUTPUT_FORMAT } from '../chat/output-format.js';
import type { MessageFold } from '../chat/prompt.js';
import type { OfferedTool } from '../chat/tool-definition.js';
import { checkOption, numberBetween } from '../internal/options.js';

/** Tokens of an image, audio or file: providers count by size, which is not known for a URL. */
const MEDIA_TOKENS = 1_500;

const COUNT = numberBetween(0, Number.MAX_SAFE_INTEGER);
/** Maximum number of models whose correction is kept. */
const MAX_MODELS = 100;

/** Counts the tokens of messages and requests; each message and tool is counted once. */
export class TokenMeter {
  /** The latest correction by the name of the model, for the first call of a run. */
  private readonly ratios = new Map<string, number>();
  private readonly known = new WeakMap<object, number>();
  /** Tokens of the offered ones of a list of tools. */
  private readonly offered = new WeakMap<
    readonly OfferedTool[],
    { readonly unlocked: readonly string[]; readonly tokens: number }
  >();
  private readonly sum: MessageFold<number> = (before = 0, added) => before + this.ofAll(added);

  /**
   * @param count counts the tokens of a message; a tool is counted as a message with its JSON
   * @param where begins the message of an error of `count`
   */
  constructor(
    private readonly count: (message: Message) => number = countTokens,
    private readonly where = 'TokenMeter',
  ) {}

  /** Reported tokens per counted token, as the latest run has learned it. */
  ratioOf(model: string): number {
    return this.ratios.get(model) ?? 1;
  }

  learn(model: string, ratio: number): void {
    if (this.ratios.size >= MAX_MODELS) this.ratios.clear();
    this.ratios.set(model, ratio);
  }

  of(message: Message): number {
    return this.remember(message, message);
  }

  ofAll(messages: readonly Message[]): number {
    let sum = 0;
    for (const message of messages) sum += this.of(message);
    return sum;
  }

  /** Tokens of the messages of a request; a prompt that grows costs only what is added to it. */
  ofMessages({ prompt }: ChatClientRequest): number {
    return prompt.fold(this.sum);
  }

  /** Tokens of the tools and of the schema of the answer, which every request repeats. */
  ofSchemas(request: ChatClientRequest): number {
    const sum = this.ofList(request.prompt.options.tools ?? []) + this.ofOffered(request);
    const schema = request.context.get(OUTPUT_FORMAT)?.schema;
    return schema ? sum + this.remember(schema, () => toMessage(schema)) : sum;
  }

  /** Requests of a turn share the list of their tools, of which there may be hundreds. */
  private ofOffered(request: ChatClientRequest): number {
    const { tools, unlocked } = request;
    const known = this.offered.get(tools);
    if (known?.unlocked === unlocked) return known.tokens;
    const tokens = this.ofList(request.offeredTools);
    this.offered.set(tools, { unlocked, tokens });
    return tokens;
  }

  private ofList(tools: readonly OfferedTool[]): number {
    return tools.reduce((sum, tool) => sum + this.ofTool(tool), 0);
  }

  ofTool({ definition }: OfferedTool): number {
    return this.remember(definition, () => {
      const { name, description, inputSchema } = definition;
      return toMessage({ name, description, inputSchema });
    });
  }

  private remember(key: object, message: Message | (() => Message)): number {
    const known = this.known.get(key);
    if (known !== undefined) return known;
    const tokens = this.count(typeof message === 'function' ? message() : message);
    checkOption(this.where, 'the result of tokenCounter', tokens, COUNT);
    this.known.set(key, tokens);
    return tokens;
  }
}

function toMessage(value: unknown): Message {
  return { role: 'system', content: JSON.stringify(value) };
}

/** The estimate of a memory, with reasoning and media, which a memory does not send. */
function countTokens(message: Message): number {
  const text = estimateTokens(message);
  if (message.role === 'assistant') return text + tokensOfLength(message.reasoning?.length ?? 0);
  if (message.role === 'system' || !hasMedia(message.content)) return text;
  return (message.content as readonly ContentPart[]).reduce(
    (sum, part) => sum + ofPart(part),
    text,
  );
}

function ofPart(part: ContentPart): number {
  if (part.type === 'text') return 0;
  return part.type === 'raw' ? tokensOfLength(JSON.stringify(part.value).length) : MEDIA_TOKENS;
}
