import type { ChatEvent } from '../../core/chat/chat-event.js';
import type { Generation, Usage } from '../../core/chat/chat-response.js';
import { type AssistantMessage, callsOf } from '../../core/chat/message.js';
import { StreamFold } from '../../core/chat/stream-fold.js';
import { IncompleteResponseError } from '../../core/errors/errors.js';
import { isPlainObject, type JsonObject, nonEmptyString } from '../../core/internal/options.js';
import { listOf } from '../../core/json-schema/json-pointer.js';
import { argumentsText, toMetadata } from '../http/fields.js';
import { citedSources } from './cited-sources.js';
import { isPlainPart, KEY } from './kept-parts.js';
import { PartialArguments } from './partial-arguments.js';
import { addFields, addMetadata, camelCased } from './response.js';

/** Fields of a candidate that are mapped. */
const FIELDS: ReadonlySet<string> = new Set(['index', 'content', 'finishReason']);

/** One alternative of an answer. */
export class Candidate {
  readonly fold = new StreamFold();
  ended = false;
  private hasContent = false;
  private finishReason: string | undefined;
  private readonly metadata: Record<string, unknown> = {};
  /** Parts in the form that the provider wants back; a call is its position. */
  private readonly parts: Record<string, unknown>[] = [];
  /** For each call, the fields that the provider wants back. */
  private readonly callFields: Record<string, unknown>[] = [];
  /** Arguments of the last call, while they arrive in pieces. */
  private open: PartialArguments | undefined;

  /** @param emit receives the deltas */
  constructor(private readonly emit: (event: ChatEvent) => void) {}

  add(fields: JsonObject): void {
    const { content, finishReason } = fields;
    if (isPlainObject(content)) {
      this.hasContent = true;
      for (const part of listOf(content['parts']))
        if (isPlainObject(part)) this.addPart(camelCased(part));
    }
    for (const name in fields)
      if (!FIELDS.has(name)) addMetadata(this.metadata, name, fields[name]);
    const reason = nonEmptyString(finishReason);
    if (reason === undefined || reason === 'FINISH_REASON_UNSPECIFIED') return;
    this.finishReason = reason;
    this.ended = true;
  }

  /** @throws {@link IncompleteResponseError} if neither content nor a finish reason arrived */
  generation(usage: Usage | undefined): Generation {
    const { finishReason, metadata } = this;
    if (!this.hasContent && finishReason === undefined) throw withoutContent(usage);
    return {
      message: this.withFields(this.fold.message()),
      ...(finishReason !== undefined && { finishReason }),
      ...this.fold.cited,
      metadata,
    };
  }

  /** Adds the sources, which only the whole metadata connects with the text. Ends a call whose last piece did not come; its arguments stay unfinished if the answer was. */
  end(): void {
    this.endArguments(this.finishReason !== undefined && this.finishReason !== 'STOP');
    for (const { raw, place, fields } of citedSources(this.metadata, this.fold.text))
      this.emit(this.fold.addCitation(raw, place, fields));
  }

  private addPart(part: JsonObject): void {
    const { functionCall, text } = part;
    if (isPlainObject(functionCall)) this.addCall(camelCased(functionCall), part);
    else if (typeof text === 'string') this.addText(text, part);
    else if ('thoughtSignature' in part && Object.keys(part).every((name) => SIGNED.has(name)))
      this.addText('', part);
    else if (Object.keys(part).length > 0) this.parts.push(part);
  }

  private addText(text: string, part: JsonObject): void {
    const isThought = part['thought'] === true;
    const isPlain = Object.keys(part).every((name) => name === 'text' || name === 'thought');
    const last = this.parts.at(-1);
    if (!isPlain) this.parts.push({ ...part, text });
    else if (last !== undefined && isContinued(last, isThought)) last['text'] += text;
    else if (text !== '') this.parts.push(isThought ? { thought: true, text } : { text });
    if (text === '') return;
    this.ended = false; // early models send a finish reason with each event
    if (isThought) this.fold.reasoning += text;
    else this.fold.text += text;
    this.emit({ type: isThought ? 'reasoning-delta' : 'text-delta', text });
  }

  private addCall(called: JsonObject, part: JsonObject): void {
    const { functionCall: _, ...fields } = part;
    const { args, partialArgs, willContinue } = called;
    const name = nonEmptyString(called['name']);
    const isWhole = willContinue !== true && !Array.isArray(partialArgs);
    if (name !== undefined) {
      this.endArguments(false);
      this.startCall(name, nonEmptyString(called['id']), isWhole ? argumentsText(args) : '');
      if (!isWhole) this.open = new PartialArguments();
    }
    const kept = this.callFields.at(-1);
    if (kept) addFields(kept, fields);
    this.open?.add(partialArgs);
    if (willContinue !== true) this.endArguments(false);
  }

  private startCall(name: string, id: string | undefined, text: string): void {
    this.ended = false;
    const index = this.callFields.push(id === undefined ? {} : { id }) - 1;
    this.parts.push({ toolCall: index });
    this.emit(this.fold.addToolCall({ index, id, name, arguments: text }));
  }

  /** @param isCut true leaves the arguments without their end, so that the call is refused */
  private endArguments(isCut: boolean): void {
    if (!this.open) return;
    const text = this.open.toText();
    this.open = undefined;
    const index = this.callFields.length - 1;
    const piece = { index, arguments: isCut ? text.slice(0, -1) : text };
    this.emit(this.fold.addToolCall(piece));
  }

  private withFields(message: AssistantMessage): AssistantMessage {
    const toolCalls = callsOf(message).map((call, at) => ({
      ...call,
      ...toMetadata(KEY, this.callFields[at] ?? {}),
    }));
    const { parts } = this;
    // a text before plain calls is what the message expresses
    const isPlain = parts.every((part, at) => isPlainPart(part) && (at === 0 || !('text' in part)));
    const calls = message.toolCalls && { toolCalls };
    return { ...message, ...calls, ...toMetadata(KEY, isPlain ? {} : { parts }) };
  }
}

/** The error for an empty answer, which the API sends at times. */
export function withoutContent(usage: Usage | undefined): IncompleteResponseError {
  return new IncompleteResponseError('The server answered without content.', {
    retryable: true,
    usage,
  });
}

/** Names of the fields of a part with a signature alone. */
const SIGNED: ReadonlySet<string> = new Set(['thought', 'thoughtSignature']);

/** True if the next event continues a text; a signature belongs to the end of its part. */
function isContinued(last: JsonObject, isThought: boolean): boolean {
  const { text, thought = false, ...others } = last;
  return typeof text === 'string' && thought === isThought && Object.keys(others).length === 0;
}
