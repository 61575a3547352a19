import type { ChatEvent } from '../../core/chat/chat-event.js';
import type { AssistantMessage, Metadata } from '../../core/chat/message.js';
import { StreamFold } from '../../core/chat/stream-fold.js';
import { isPlainObject, type JsonObject, nonEmptyString } from '../../core/internal/options.js';
import { listOf } from '../../core/json-schema/json-pointer.js';
import { argumentsObject, argumentsText, toMetadata } from '../http/fields.js';
import { withBlocks } from './assistant-content.js';
import { KEY } from './cache-marks.js';

/** A block of an answer while its pieces arrive. */
interface Block {
  /** Its number in the answer. */
  readonly position: number;
  readonly fields: Record<string, unknown>;
  /** Length of the answer before it. */
  readonly start: number;
  /** Input of a tool as text so far. */
  json: string;
}

/** Assembles the blocks of an answer, and emits the deltas of text, thinking and calls. */
export class ContentFold {
  readonly fold = new StreamFold();
  private readonly blocks: Block[] = [];
  /** The open blocks by their index in the stream. */
  private readonly open = new Map<unknown, Block>();

  constructor(private readonly emit: (event: ChatEvent) => void) {}

  start(index: unknown, content: JsonObject): Block {
    this.stop(index); // a server that ends no blocks
    const fields = { ...content };
    const block: Block = {
      position: this.blocks.length,
      fields,
      start: this.fold.text.length,
      json: '',
    };
    this.blocks.push(block);
    this.open.set(index, block);
    if (fields['type'] === 'tool_use') this.startCall(block);
    for (const name of ['text', 'thinking']) {
      if (fields['type'] !== name) continue;
      fields[name] = '';
      this.addText(block, name, content[name]);
    }
    if (Array.isArray(fields['citations'])) {
      fields['citations'] = [];
      for (const citation of content['citations'] as readonly unknown[])
        this.addCitation(block, citation);
    }
    return block;
  }

  addDelta(index: unknown, delta: JsonObject): void {
    const { type } = delta;
    if (type === 'text_delta') this.addText(this.blockAt(index, 'text'), 'text', delta['text']);
    else if (type === 'thinking_delta')
      this.addText(this.blockAt(index, 'thinking'), 'thinking', delta['thinking']);
    else if (type === 'input_json_delta') this.addJson(this.open.get(index), delta['partial_json']);
    else if (type === 'citations_delta')
      this.addCitation(this.blockAt(index, 'text'), delta['citation']);
    else mergeDelta(this.open.get(index)?.fields, delta);
  }

  stop(index: unknown): void {
    const block = this.open.get(index);
    if (!block) return;
    this.open.delete(index);
    const { fields, json } = block;
    this.cite(block);
    if (fields['type'] !== 'tool_use') {
      if (json !== '') fields['input'] = argumentsObject(json);
    } else if (json === '') this.addJson(block, argumentsText(fields['input']));
  }

  /** The message, when all blocks have arrived. */
  message(): AssistantMessage {
    for (const index of this.open.keys()) this.stop(index);
    return withBlocks(
      this.fold.message(),
      this.blocks.map(({ fields }) => fields),
    );
  }

  private startCall({ position, fields }: Block): void {
    const { type: _type, id, name, input: _input, ...others } = fields;
    this.emit(
      this.fold.addToolCall({
        index: position,
        id: nonEmptyString(id),
        name: nonEmptyString(name),
        arguments: '',
        metadata: callMetadata(others),
      }),
    );
  }

  private addText({ fields }: Block, name: string, text: unknown): void {
    if (typeof text !== 'string' || text === '') return;
    const before = fields[name];
    fields[name] = typeof before === 'string' ? before + text : text;
    if (fields['type'] !== name) return; // a block that this library does not know
    if (name === 'text') {
      this.fold.text += text;
      this.emit({ type: 'text-delta', text });
    } else {
      this.fold.reasoning += text;
      this.emit({ type: 'reasoning-delta', text });
    }
  }

  private addJson(block: Block | undefined, text: unknown): void {
    if (!block || typeof text !== 'string' || text === '') return;
    block.json += text;
    if (block.fields['type'] !== 'tool_use') return;
    this.emit(this.fold.addToolCall({ index: block.position, arguments: text }));
  }

  private addCitation({ fields }: Block, citation: unknown): void {
    if (!isPlainObject(citation)) return;
    const list: unknown = fields['citations'];
    if (Array.isArray(list)) list.push(citation);
    else fields['citations'] = [citation];
  }

  /** Adds the citations of a block, which support its whole text. */
  private cite({ fields: { type, citations }, start }: Block): void {
    if (type !== 'text') return;
    const end = this.fold.text.length;
    for (const citation of listOf(citations))
      if (isPlainObject(citation)) this.emit(this.fold.addCitation(citation, { start, end }));
  }

  /** The open block; a new one for a server that does not announce its blocks. */
  private blockAt(index: unknown, type: string): Block {
    const block = this.open.get(index);
    const isOther = block?.fields['type'] !== type && STREAMED.has(block?.fields['type']);
    return block && !isOther ? block : this.start(index, { type });
  }
}

/** Types of blocks with deltas of their own. */
const STREAMED: ReadonlySet<unknown> = new Set(['text', 'thinking', 'tool_use']);

/** Fields of a call that the provider wants back; a direct caller is the default and is omitted. */
function callMetadata({ caller, ...others }: JsonObject): Metadata | undefined {
  const isDirect = !isPlainObject(caller) || caller['type'] === 'direct';
  const fields = isDirect ? others : { caller, ...others };
  return toMetadata(KEY, fields).metadata;
}

/** Adds the fields of a delta of another type: a signature, or what the API may add one day. */
function mergeDelta(fields: Record<string, unknown> | undefined, delta: JsonObject): void {
  if (!fields) return;
  for (const [name, value] of Object.entries(delta)) {
    if (name === 'type' || value === null) continue;
    const before = fields[name];
    const isText = typeof before === 'string' && typeof value === 'string' && name !== 'signature';
    fields[name] = isText ? before + value : value;
  }
}
