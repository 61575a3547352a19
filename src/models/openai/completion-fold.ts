import type { ChatEvent } from '../../chat/chat-event.js';
import { ChatResponse, type Generation, type RateLimit } from '../../chat/chat-response.js';
import type { Prompt } from '../../chat/prompt.js';
import { StreamFold } from '../../chat/stream-fold.js';
import type { Usage } from '../../chat/usage.js';
import { ContentParts } from './content-parts.js';
import { collectEchoed, echoedFields, toMetadata } from './echoed-fields.js';
import { isWire, textOrNone, type Wire } from './wire-json.js';
import { toUsage, usageElsewhere } from './wire-usage.js';
import {
  argumentsOf,
  BODY_FIELDS,
  CHOICE_FIELDS,
  finishReasonOf,
  isFunctionCall,
  logprobsOf,
  otherFields,
  readContent,
  reasoningOf,
  toGeneration,
} from './wire.js';

/** One alternative of a streamed answer. */
interface Choice {
  readonly fold: StreamFold;
  readonly echo: Record<string, unknown>;
  readonly logprobs: unknown[];
  readonly annotations: unknown[];
  /** A content that comes in parts, thinking among them, as the provider wants it back. */
  readonly parts: ContentParts;
  finishReason: string | undefined;
  /** Whether nothing more is to come. */
  ended: boolean;
  readonly fields: Record<string, unknown>;
}

/** Folds the chunks of a streamed chat completion, once, and says what each adds. */
export class CompletionFold {
  private readonly choices = new Map<number, Choice>();
  private id: string | undefined;
  private model: string | undefined;
  private usage: Usage | undefined;
  private readonly metadata: Record<string, unknown> = {};
  /** Number of chunks so far. */
  chunks = 0;
  /** The error of a choice that failed. */
  error: unknown;

  /** @param emit hears the deltas of the first choice */
  constructor(private readonly emit: (event: ChatEvent) => void) {}

  /** Text of the first choice so far. */
  get text(): string {
    return this.choices.get(0)?.fold.text ?? '';
  }

  /** Whether the model has said of every choice why it stopped. */
  get finished(): boolean {
    for (const choice of this.choices.values()) if (!choice.ended) return false;
    return this.started;
  }

  /** Whether there is anything to answer with. */
  get started(): boolean {
    return this.choices.size > 0;
  }

  add(chunk: Wire): void {
    const { choices, usage } = chunk;
    this.id ??= textOrNone(chunk['id']);
    this.model ??= textOrNone(chunk['model']);
    // other fields are looked for where servers send them (first and last chunks, chunks without choices), not in every delta
    let notable = this.chunks++ === 0;
    if (usage) {
      notable = true;
      this.usage = toUsage(usage) ?? this.usage; // it may come on several chunks; each time it is the whole
    }
    if (!Array.isArray(choices) || choices.length === 0) notable = true;
    else for (const choice of choices) if (isWire(choice) && this.addChoice(choice)) notable = true;
    if (notable) otherFields(chunk, BODY_FIELDS, this.metadata);
  }

  /** The complete answer. */
  response(prompt: Prompt, rateLimit?: RateLimit): ChatResponse {
    const { id, model, metadata } = this;
    const choices = [...this.choices].sort(([a], [b]) => a - b).map(([, choice]) => choice);
    const usage = this.usage ?? usageElsewhere(metadata, choices[0]?.fields);
    return new ChatResponse({ generations: choices.map((choice) => generationOf(choice, prompt)), usage, id, model, rateLimit, metadata });
  }

  /** @returns whether the choice has ended with this */
  private addChoice(wire: Wire): boolean {
    const index = typeof wire['index'] === 'number' ? wire['index'] : 0;
    const choice = this.choices.get(index) ?? this.open(index);
    const delta = wire['delta'] ?? wire['message'];
    if (isWire(delta)) this.addDelta(choice, delta, index === 0);
    if (wire['logprobs']) choice.logprobs.push(...logprobsOf(wire['logprobs']));
    const reason = finishReasonOf(wire['finish_reason']);
    if (reason === undefined) return false;
    choice.finishReason = reason;
    choice.ended = true;
    this.error ??= wire['error'];
    otherFields(wire, CHOICE_FIELDS, choice.fields);
    return true;
  }

  private open(index: number): Choice {
    const choice: Choice = {
      fold: new StreamFold(),
      echo: {},
      logprobs: [],
      annotations: [],
      parts: new ContentParts(),
      finishReason: undefined,
      ended: false,
      fields: {},
    };
    this.choices.set(index, choice);
    return choice;
  }

  private addDelta(choice: Choice, delta: Wire, first: boolean): void {
    const { fold } = choice;
    const { content, refusal, tool_calls: calls } = delta;
    const reasoning = reasoningOf(delta);
    if (reasoning !== '') this.addReasoning(fold, reasoning, first);
    if (typeof content === 'string') {
      if (content !== '') choice.parts.addText(content);
      if (content !== '') this.addText(fold, content, first);
    } else if (content) this.addParts(choice, content, first);
    if (typeof refusal === 'string') fold.refusal += refusal;
    if (Array.isArray(calls)) for (const call of calls) this.addCall(choice, call, first);
    if (Array.isArray(delta['annotations'])) choice.annotations.push(...(delta['annotations'] as readonly unknown[]));
    collectEchoed(choice.echo, delta);
  }

  private addParts(choice: Choice, content: unknown, first: boolean): void {
    const { text, reasoning } = readContent(content);
    choice.parts.add(content, choice.fold.text);
    if (reasoning !== '') this.addReasoning(choice.fold, reasoning, first);
    if (text !== '') this.addText(choice.fold, text, first);
  }

  private addText(fold: StreamFold, text: string, first: boolean): void {
    fold.text += text;
    if (first) this.emit({ type: 'text-delta', text });
  }

  private addReasoning(fold: StreamFold, text: string, first: boolean): void {
    fold.reasoning += text;
    if (first) this.emit({ type: 'reasoning-delta', text });
  }

  private addCall(choice: Choice, call: unknown, first: boolean): void {
    if (!isFunctionCall(call)) return;
    const { index, id, function: called } = call;
    const delta = choice.fold.addToolCall({
      index: typeof index === 'number' ? index : undefined,
      id: textOrNone(id),
      name: textOrNone(called['name']),
      arguments: argumentsOf(called['arguments']),
      ...toMetadata(echoedFields(call)),
    });
    choice.ended = false; // some servers say `tool_calls` after every call, not only after the last one
    if (first) this.emit(delta);
  }
}

function generationOf({ fold, echo, logprobs, annotations, parts, finishReason, fields }: Choice, prompt: Prompt): Generation {
  const content = parts.withThinking;
  const message = fold.message(toMetadata(content ? { ...echo, content } : echo).metadata);
  const metadata = annotations.length > 0 ? { ...fields, annotations } : { ...fields };
  return toGeneration(message, finishReason, logprobs, metadata, prompt);
}
