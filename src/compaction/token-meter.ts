import { hasMedia } from '../memory/history.js';
import { estimateTokens } from '../memory/chat-memory.js';
import type { ChatClientRequest } from '../advisor/chat-client-request.js';
import type { ContentPart, Message } from '../chat/message.js';
import { OUTPUT_FORMAT } from '../chat/output-format.js';
import type { MessageFold } from '../chat/prompt.js';
import type { OfferedTool } from '../chat/tool-definition.js';

/** Tokens of an image, audio or file: providers count by size, which is not known for a URL. */
const MEDIA_TOKENS = 1_500;

/** Maximum number of models whose correction is kept. */
const MAX_MODELS = 100;

/** Counts the tokens of messages and requests; each message and tool is counted once. */
export class TokenMeter {
  /** The latest correction by the name of the model, for the first call of a run. */
  private readonly ratios = new Map<string, number>();
  private readonly known = new WeakMap<object, number>();
  private readonly sum: MessageFold<number> = (before = 0, added) => before + this.ofAll(added);

  /** @param count counts the tokens of a message; a tool is counted as a message with its JSON */
  constructor(private readonly count: (message: Message) => number = countTokens) {}

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
  ofSchemas({ prompt, offeredTools, context }: ChatClientRequest): number {
    let sum = 0;
    for (const tool of prompt.options.tools ?? []) sum += this.ofTool(tool);
    for (const tool of offeredTools) sum += this.ofTool(tool);
    const schema = context.get(OUTPUT_FORMAT)?.schema;
    return schema ? sum + this.remember(schema, () => toMessage(schema)) : sum;
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
    this.known.set(key, tokens);
    return tokens;
  }
}

function toMessage(value: unknown): Message {
  return { role: 'system', text: JSON.stringify(value) };
}

/** The estimate of a memory, with reasoning and media, which a memory does not send. */
function countTokens(message: Message): number {
  const text = estimateTokens(message);
  if (message.role === 'assistant') return text + Math.ceil((message.reasoning?.length ?? 0) / 4);
  if (message.role === 'system' || !hasMedia(message.content)) return text;
  return (message.content as readonly ContentPart[]).reduce(
    (sum, part) => sum + ofPart(part),
    text,
  );
}

function ofPart(part: ContentPart): number {
  if (part.type === 'text') return 0;
  return part.type === 'raw' ? Math.ceil(JSON.stringify(part.value).length / 4) : MEDIA_TOKENS;
}
