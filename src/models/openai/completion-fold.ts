import type { ChatEvent } from '../../chat/chat-event.js';
import { ChatResponse, type Generation, type RateLimit } from '../../chat/chat-response.js';
import type { Prompt } from '../../chat/prompt.js';
import { StreamFold } from '../../chat/stream-fold.js';
import { withUniqueCallIds } from '../../chat/tool-call-ids.js';
import {
  argumentsOf,
  ECHOED,
  echoOf,
  isFunctionCall,
  isWire,
  metadataOf,
  readContent,
  reasoningOf,
  textOrNone,
  toUsage,
  type Wire,
} from './wire.js';

/** One alternative of a streamed answer. */
interface Choice {
  readonly fold: StreamFold;
  readonly echo: Record<string, unknown>;
  readonly logprobs: unknown[];
  readonly annotations: unknown[];
  /** Whether the content came as parts with thinking among them, as the provider wants it back. */
  thinking: string;
  finishReason: string | undefined;
  fields: Wire;
}

/** Folds the chunks of a streamed chat completion, once, and says what each adds. */
export class CompletionFold {
  private readonly choices: Choice[] = [];
  private id: string | undefined;
  private model: string | undefined;
  private usage: unknown;
  private metadata: Wire = {};
  /** Number of chunks so far. */
  chunks = 0;

  /** @param emit hears the deltas of the first choice */
  constructor(private readonly emit: (event: ChatEvent) => void) {}

  /** Text of the first choice so far. */
  get text(): string {
    return this.choices[0]?.fold.text ?? '';
  }

  /** Whether the model has said why it stopped. */
  get finished(): boolean {
    return this.choices.some((choice) => choice.finishReason !== undefined);
  }

  /** Whether there is anything to answer with. */
  get started(): boolean {
    return this.choices.length > 0;
  }

  add(chunk: Wire): void {
    const { choices, usage } = chunk;
    this.id ??= textOrNone(chunk['id']);
    this.model ??= textOrNone(chunk['model']);
    // usage may come on several chunks; each time it is the whole
    if (usage) this.usage = usage;
    // other fields are looked for where they are sent (first and last chunks), not in every delta
    if (this.chunks++ === 0 || usage) this.keepFields(chunk);
    if (Array.isArray(choices)) for (const choice of choices as readonly Wire[]) this.addChoice(choice);
  }

  /** The complete answer. */
  response(prompt: Prompt, rateLimit?: RateLimit): ChatResponse {
    const generations = this.choices.filter((choice) => choice !== undefined).map((choice) => toGeneration(choice, prompt));
    return new ChatResponse({
      generations,
      usage: toUsage(this.usage),
      id: this.id,
      model: this.model,
      rateLimit,
      metadata: this.metadata,
    });
  }

  private keepFields(chunk: Wire): void {
    const { id: _id, object: _object, created: _created, model: _model, choices: _choices, usage: _usage, ...rest } = chunk;
    this.metadata = { ...this.metadata, ...rest };
  }

  private addChoice(wire: Wire): void {
    const index = typeof wire['index'] === 'number' ? wire['index'] : 0;
    const choice = (this.choices[index] ??= {
      fold: new StreamFold(),
      echo: {},
      logprobs: [],
      annotations: [],
      thinking: '',
      finishReason: undefined,
      fields: {},
    });
    const delta = wire['delta'] ?? wire['message'];
    if (isWire(delta)) this.addDelta(choice, delta, index === 0);
    if (wire['logprobs']) keepLogprobs(choice, wire['logprobs']);
    const reason = textOrNone(wire['finish_reason']);
    if (reason === undefined) return;
    choice.finishReason ??= reason;
    const { index: _index, delta: _delta, message: _message, finish_reason: _reason, logprobs: _logprobs, ...rest } = wire;
    choice.fields = { ...choice.fields, ...rest };
  }

  private addDelta(choice: Choice, delta: Wire, first: boolean): void {
    const { fold } = choice;
    const { content, refusal, tool_calls: calls } = delta;
    if (typeof content === 'string') {
      if (content !== '') this.addText(fold, content, first);
    } else if (content) {
      const { text, reasoning } = readContent(content);
      choice.thinking += reasoning;
      if (reasoning !== '') this.addReasoning(fold, reasoning, first);
      if (text !== '') this.addText(fold, text, first);
    }
    const reasoning = reasoningOf(delta);
    if (reasoning !== '') this.addReasoning(fold, reasoning, first);
    if (typeof refusal === 'string') fold.refusal += refusal;
    if (Array.isArray(calls)) for (const call of calls) this.addCall(fold, call, first);
    if (Array.isArray(delta['annotations'])) choice.annotations.push(...(delta['annotations'] as readonly unknown[]));
    keepEcho(choice.echo, delta);
  }

  private addText(fold: StreamFold, text: string, first: boolean): void {
    fold.text += text;
    if (first) this.emit({ type: 'text-delta', text });
  }

  private addReasoning(fold: StreamFold, text: string, first: boolean): void {
    fold.reasoning += text;
    if (first) this.emit({ type: 'reasoning-delta', text });
  }

  private addCall(fold: StreamFold, call: unknown, first: boolean): void {
    if (!isFunctionCall(call)) return;
    const { index, id, function: called } = call;
    const delta = fold.addToolCall({
      index: typeof index === 'number' ? index : undefined,
      id: textOrNone(id),
      name: textOrNone(called['name']),
      arguments: argumentsOf(called['arguments']),
      ...metadataOf(echoOf(call)),
    });
    if (first) this.emit(delta);
  }
}

function toGeneration({ fold, echo, logprobs, annotations, thinking, finishReason, fields }: Choice, prompt: Prompt): Generation {
  const content =
    thinking === ''
      ? {}
      : {
          content: [
            { type: 'thinking', thinking: [{ type: 'text', text: thinking }] },
            { type: 'text', text: fold.text },
          ],
        };
  const message = fold.message(metadataOf({ ...echo, ...content }).metadata);
  return {
    message: withUniqueCallIds(message, prompt.messages),
    ...(finishReason !== undefined && { finishReason }),
    metadata: {
      ...fields,
      ...(logprobs.length > 0 && { logprobs: { content: logprobs } }),
      ...(annotations.length > 0 && { annotations }),
    },
  };
}

function keepLogprobs(choice: Choice, logprobs: unknown): void {
  if (isWire(logprobs) && Array.isArray(logprobs['content'])) choice.logprobs.push(...(logprobs['content'] as readonly unknown[]));
}

/** Keeps what the provider wants back: texts grow, lists of details are merged by place, anything else is replaced. */
function keepEcho(echo: Record<string, unknown>, delta: Wire): void {
  for (const name of ECHOED) {
    const value = delta[name];
    if (value === undefined || value === null || value === '') continue;
    const before = echo[name];
    if (Array.isArray(value)) mergeDetails((echo[name] = Array.isArray(before) ? (before as unknown[]) : []), value);
    else echo[name] = typeof value === 'string' && typeof before === 'string' && name.startsWith('reasoning') ? before + value : value;
  }
}

const GROWING: ReadonlySet<string> = new Set(['text', 'summary', 'data', 'thinking']);

/** Pieces of one detail have the same `index` and `type`. */
function mergeDetails(details: unknown[], pieces: readonly unknown[]): void {
  for (const piece of pieces) {
    const at =
      isWire(piece) && piece['index'] !== undefined
        ? details.findIndex((detail) => isWire(detail) && detail['index'] === piece['index'] && detail['type'] === piece['type'])
        : -1;
    if (at < 0) details.push(piece);
    else details[at] = mergeDetail(details[at] as Wire, piece as Wire);
  }
}

function mergeDetail(before: Wire, piece: Wire): Wire {
  const merged: Record<string, unknown> = { ...before };
  for (const [name, value] of Object.entries(piece)) {
    if (value === null || value === undefined) continue;
    const old = merged[name];
    merged[name] = GROWING.has(name) && typeof old === 'string' && typeof value === 'string' ? old + value : value;
  }
  return merged;
}
