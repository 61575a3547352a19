import type { ChatEvent } from '../../core/chat/chat-event.js';
import { ChatResponse, type RateLimit, type Usage } from '../../core/chat/chat-response.js';
import { toCitation, type Citation } from '../../core/chat/citation.js';
import { isPlainObject, nonEmptyString, type JsonObject } from '../../core/internal/options.js';
import { listOf } from '../../core/json-schema/json-pointer.js';
import { CallSlots } from './call-slots.js';
import {
  toInput,
  toKeptFile,
  toMessageMetadata,
  withOptions,
  type KeptPart,
} from './kept-parts.js';
import { toUsage } from './usage.js';

/** A text or a reasoning while its pieces arrive. */
interface Block {
  readonly type: 'text' | 'reasoning';
  length: number;
  options: unknown;
}

/** The end of an answer. */
export interface Finish {
  /** In the words of the AI SDK, such as `stop`; absent if the answer broke off. */
  readonly unified: string | undefined;
  /** In the words of the provider. */
  readonly raw: string | undefined;
}

/** Folds the parts of one answer, streamed or whole, and emits its deltas. Ignores unknown parts. */
export class PartFold {
  text = '';
  reasoning = '';
  usage: Usage | undefined;
  finish: Finish | undefined;
  private id: string | undefined;
  private modelId: string | undefined;
  private readonly calls: CallSlots;
  private readonly kept: (KeptPart | Block)[] = [];
  private readonly blocks = new Map<unknown, Block>();
  private readonly citations: Citation[] = [];
  private readonly lists: Record<string, unknown[]> = {};
  private providerMetadata: unknown;

  constructor(
    private readonly provider: string,
    warnings: readonly unknown[],
    private readonly emit: (event: ChatEvent) => void,
  ) {
    this.calls = new CallSlots(emit);
    this.addAll('warnings', warnings);
  }

  add(part: JsonObject): void {
    const { type } = part;
    if (typeof type !== 'string') return;
    const [kind, step] = type.split(/-(?=(?:start|delta|end)$)/);
    if (kind === 'text' || kind === 'reasoning') return this.addBlock(kind, step, part);
    if (kind === 'tool-input') return this.addInput(step, part);
    if (type === 'tool-call') return this.addCall(part);
    if (type === 'finish') return this.end(part);
    if (type === 'response-metadata') {
      this.id = nonEmptyString(part['id']) ?? this.id;
      this.modelId = nonEmptyString(part['modelId']) ?? this.modelId;
    } else if (type === 'stream-start') this.addAll('warnings', part['warnings']);
    else if (type === 'source') this.addCitation(part);
    else this.keep(type, part);
  }

  response(rateLimit: RateLimit | undefined, model: string): ChatResponse {
    const { text, reasoning, provider, finish, citations } = this;
    const toolCalls = this.calls.toToolCalls(provider);
    let call = 0;
    const kept = this.kept.filter(({ type }) => type !== 'call' || this.calls.isOwn(call++));
    const metadata = toMessageMetadata(provider, kept.map(withoutEmpty));
    const message = {
      role: 'assistant',
      content: text === '' && toolCalls.length > 0 ? null : text,
      toolCalls,
      ...(reasoning !== '' && { reasoning }),
      ...(metadata && { metadata }),
    } as const;
    return new ChatResponse({
      generations: [
        {
          message,
          finishReason: finishReasonOf(finish),
          ...(citations.length > 0 && { citations }),
          ...(finish?.raw !== undefined && { metadata: { finishReason: finish.raw } }),
        },
      ],
      usage: this.usage,
      id: this.id,
      model: this.modelId ?? model,
      rateLimit,
      metadata: {
        ...this.lists,
        ...(this.providerMetadata !== undefined && { providerMetadata: this.providerMetadata }),
      },
    });
  }

  /** @param step undefined for a whole block */
  private addBlock(type: Block['type'], step: string | undefined, part: JsonObject): void {
    const { id, delta, text, providerMetadata, citations } = part;
    const key = `${type} ${String(id)}`;
    let block = step === 'start' || step === undefined ? undefined : this.blocks.get(key);
    if (!block) {
      block = { type, length: 0, options: undefined };
      this.kept.push(block);
      this.blocks.set(key, block);
    }
    block.options = providerMetadata ?? block.options;
    for (const citation of listOf(citations))
      if (isPlainObject(citation)) this.addCitation(citation);
    this.write(block, step === 'delta' ? delta : text);
  }

  private write(block: Block, text: unknown): void {
    if (typeof text !== 'string' || text === '') return;
    block.length += text.length;
    this[block.type] += text;
    this.emit({ type: `${block.type}-delta`, text });
  }

  private addCitation(source: JsonObject): void {
    const citation = toCitation(source);
    this.citations.push(citation);
    this.emit({ type: 'citation', citation });
  }

  private addInput(step: string | undefined, part: JsonObject): void {
    if (step === 'delta') this.calls.addDelta(part);
    else if (step === 'start' && this.calls.start(part)) this.kept.push({ type: 'call' });
  }

  /** Calls that the provider runs are kept for it, not among the calls of the answer. */
  private addCall(part: JsonObject): void {
    if (part['providerExecuted'] !== true) {
      if (this.calls.add(part)) this.kept.push({ type: 'call' });
      return;
    }
    this.calls.leave(part);
    const { toolCallId, toolName, input, providerMetadata } = part;
    const call = { type: 'tool-call', toolCallId, toolName, providerExecuted: true };
    this.addAll('providerCalls', [part]);
    this.keepPart(
      { ...call, input: typeof input === 'string' ? toInput(input) : input },
      providerMetadata,
    );
  }

  private keep(type: string, part: JsonObject): void {
    const { toolCallId, toolName, result, isError, preliminary, providerMetadata } = part;
    if (type === 'tool-result' && preliminary !== true) {
      this.addAll('providerResults', [part]);
      const output = { type: isError === true ? 'error-json' : 'json', value: result };
      this.keepPart({ type, toolCallId, toolName, output }, providerMetadata);
    } else if (type === 'file' || type === 'reasoning-file') this.keepFile(type, part);
    else if (type === 'custom') this.keepPart({ type, kind: part['kind'] }, providerMetadata);
  }

  private keepPart(part: JsonObject, options: unknown): void {
    this.kept.push({ type: 'part', part: withOptions(part, options) });
  }

  private keepFile(type: 'file' | 'reasoning-file', part: JsonObject): void {
    const kept = toKeptFile(type, part, part['providerMetadata']);
    if (!kept) return;
    if (type === 'file') this.addAll('files', [kept.file]);
    this.kept.push(kept);
  }

  private end({ finishReason, usage, providerMetadata, isWhole }: JsonObject): void {
    const { unified, raw } = isPlainObject(finishReason) ? finishReason : { unified: finishReason };
    const isKnown = unified !== 'other' || nonEmptyString(raw) !== undefined || isWhole === true;
    this.finish = {
      unified: isKnown ? nonEmptyString(unified) : undefined,
      raw: nonEmptyString(raw),
    };
    this.usage = toUsage(usage);
    this.providerMetadata = providerMetadata;
  }

  private addAll(name: string, values: unknown): void {
    if (!Array.isArray(values) || values.length === 0) return;
    const list = (this.lists[name] ??= []);
    for (const value of values) list.push(value);
  }
}

/** The finish reason in the words that the rest of the library knows. */
function finishReasonOf(finish: Finish | undefined): string {
  const { unified, raw } = finish ?? {};
  return (unified === 'other' ? raw : unified?.replace('-', '_')) ?? 'other';
}

function withoutEmpty(part: KeptPart | Block): KeptPart {
  if ((part.type !== 'text' && part.type !== 'reasoning') || part.options !== undefined)
    return part;
  return { type: part.type, length: part.length };
}
