import type { JsonObject } from '../../../src/core/internal/options.js';
import type { ChatEvent, ChatResponse } from '../../../src/index.js';
import { MessageFold } from '../../../src/models/anthropic/message-fold.js';

/** A message of the API with these blocks. */
export function message(
  content: readonly JsonObject[],
  stopReason = 'end_turn',
  more: JsonObject = {},
): JsonObject {
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude',
    content,
    stop_reason: stopReason,
    stop_sequence: null,
    usage: { input_tokens: 3, output_tokens: 5 },
    ...more,
  };
}

/** The events by which the API streams a message, with texts in pieces of two characters. */
export function eventsOf(whole: JsonObject): readonly JsonObject[] {
  const { content, stop_reason, stop_sequence, stop_details, usage, ...start } = whole;
  const { output_tokens: output, ...input } = usage as JsonObject;
  return [
    {
      type: 'message_start',
      message: { ...start, content: [], stop_reason: null, usage: { ...input, output_tokens: 1 } },
    },
    { type: 'ping' },
    ...(content as readonly JsonObject[]).flatMap(blockEvents),
    {
      type: 'message_delta',
      delta: { stop_reason, stop_sequence, stop_details },
      usage: { output_tokens: output },
    },
    { type: 'message_stop' },
  ];
}

function blockEvents(block: JsonObject, index: number): readonly JsonObject[] {
  const { input, ...fields } = block;
  const deltas = [
    ...pieces(fields['text']).map((text) => ({ type: 'text_delta', text })),
    ...pieces(fields['thinking']).map((thinking) => ({ type: 'thinking_delta', thinking })),
    ...pieces(input && JSON.stringify(input)).map((json) => ({
      type: 'input_json_delta',
      partial_json: json,
    })),
    ...((fields['citations'] ?? []) as readonly unknown[]).map((citation) => ({
      type: 'citations_delta',
      citation,
    })),
    ...('signature' in fields ? [{ type: 'signature_delta', signature: fields['signature'] }] : []),
  ];
  const begun = {
    ...fields,
    ...('text' in fields && { text: '' }),
    ...('thinking' in fields && { thinking: '', signature: '' }),
    ...('citations' in fields && { citations: [] }),
    ...(input !== undefined && { input: {} }),
  };
  return [
    { type: 'content_block_start', index, content_block: begun },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

const pieces = (text: unknown): readonly string[] =>
  typeof text === 'string' ? (text.match(/[^]{1,2}/g) ?? []) : [];

/** The response of a stream, and what it emitted. */
export function foldEvents(events: readonly JsonObject[]): {
  readonly response: ChatResponse;
  readonly emitted: readonly ChatEvent[];
} {
  const emitted: ChatEvent[] = [];
  const fold = new MessageFold((event) => emitted.push(event));
  for (const event of events) fold.addEvent(event);
  return { response: fold.response(), emitted };
}

/** The response of a document. */
export function foldDocument(document: JsonObject): ChatResponse {
  const fold = new MessageFold(() => undefined);
  fold.addDocument(document);
  return fold.response();
}
