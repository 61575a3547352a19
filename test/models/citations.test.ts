import { expect } from 'chai';
import { Prompt, type ChatEvent, type Citation } from '../../src/index.js';
import { CHAT_WIRES, type ChatWire } from '../support/chat-wires.js';
import { answering } from '../support/in-process-fetch.js';
import { streamFrom } from '../support/wire-answers.js';

const TEXT = 'Mörning is cold.';
const URL = 'https://a.example/';
const PLACE = { start: 0, end: 7 };
const SOURCE = { url: URL, title: 'A' };

/** An answer that cites a source for its first word, whole and in pieces. */
interface Cited {
  readonly document: unknown;
  readonly events: readonly { readonly [field: string]: unknown; readonly type?: string }[];
  readonly citations: readonly Citation[];
}

const urlCitation = { url: URL, title: 'A', start_index: 0, end_index: 7 };
const annotation = { type: 'url_citation', url_citation: urlCitation };
const completions: Cited = {
  document: {
    choices: [{ message: { content: TEXT, annotations: [annotation, 7] }, finish_reason: 'stop' }],
  },
  events: [
    { choices: [{ index: 0, delta: { content: TEXT } }] },
    { choices: [{ index: 0, delta: { annotations: [annotation] }, finish_reason: 'stop' }] },
  ],
  citations: [{ ...SOURCE, ...PLACE, raw: annotation }],
};

const file = { type: 'file_citation', file_id: 'f', filename: 'a.pdf', index: 3 };
const flat = { type: 'url_citation', ...urlCitation };
const item = {
  type: 'message',
  id: 'm',
  role: 'assistant',
  content: [
    { type: 'output_text', text: 'Hm. ', annotations: [file] },
    { type: 'output_text', text: TEXT, annotations: [flat, null] },
  ],
};
const body = { status: 'completed', output: [item] };
const responses: Cited = {
  document: body,
  events: [
    { type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } },
    { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'Hm. ' },
    { type: 'response.output_text.delta', output_index: 0, content_index: 1, delta: TEXT },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: body },
  ],
  citations: [
    { title: 'a.pdf', raw: file },
    { ...SOURCE, start: 4, end: 11, raw: flat },
  ],
};

const found = { type: 'web_search_result_location', cited_text: 'cold', ...SOURCE };
const text = (fields: object): object => ({ type: 'text', text: '', ...fields });
const blockEvents = (index: number, whole: string, citation?: object): Cited['events'] => [
  { type: 'content_block_start', index, content_block: text(citation ? { citations: [] } : {}) },
  ...(citation
    ? [{ type: 'content_block_delta', index, delta: { type: 'citations_delta', citation } }]
    : []),
  { type: 'content_block_delta', index, delta: { type: 'text_delta', text: whole } },
  { type: 'content_block_stop', index },
];
const messages: Cited = {
  document: {
    content: [text({ text: 'Hm. ' }), text({ text: TEXT, citations: [found] })],
    stop_reason: 'end_turn',
  },
  events: [
    { type: 'message_start', message: { content: [] } },
    ...blockEvents(0, 'Hm. '),
    ...blockEvents(1, TEXT, found),
    { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
    { type: 'message_stop' },
  ],
  citations: [{ ...SOURCE, text: 'cold', start: 4, end: 4 + TEXT.length, raw: found }],
};

const page = { web: { uri: URL, title: 'A' } };
const unused = { retrievedContext: { text: 'unused' } };
const groundingMetadata = {
  groundingChunks: [page, unused],
  groundingSupports: [
    { segment: { startIndex: 9, endIndex: 17, text: 'is cold.' }, groundingChunkIndices: [0, 9] },
    { segment: { endIndex: 8, text: 'Mörning' }, groundingChunkIndices: [0] },
    { segment: { partIndex: 1, endIndex: 3, text: 'of another part' }, groundingChunkIndices: [0] },
  ],
};
const recited = { startIndex: 9, endIndex: 17, uri: URL };
const candidate = (fields: object): { readonly candidates: readonly object[] } => ({
  candidates: [{ index: 0, ...fields }],
});
const metadata = { groundingMetadata, citationMetadata: { citationSources: [recited] } };
const generateContent: Cited = {
  document: candidate({ content: { parts: [{ text: TEXT }] }, finishReason: 'STOP', ...metadata }),
  events: [
    candidate({ content: { parts: [{ text: TEXT }] }, groundingMetadata: {} }),
    candidate({ finishReason: 'STOP', ...metadata }),
  ],
  citations: [
    { ...SOURCE, start: 8, end: 16, raw: page },
    { ...SOURCE, ...PLACE },
    SOURCE,
    { text: 'unused', raw: unused },
    { url: URL, start: 8, end: 16, raw: recited },
  ],
};

const source = { type: 'document', id: 'd', document: { ...SOURCE, snippet: 'cold' } };
const cited = { ...PLACE, text: 'Mörning', sources: [source, 'x'], type: 'TEXT_CONTENT' };
const planned = { start: 0, end: 1, text: 'I', sources: [source], type: 'PLAN' };
const cohere: Cited = {
  document: {
    message: { content: [{ type: 'text', text: TEXT }], citations: [cited, planned] },
    finish_reason: 'COMPLETE',
  },
  events: [
    { type: 'content-delta', delta: { message: { content: { text: TEXT } } } },
    { type: 'citation-start', delta: { message: { citations: cited } } },
    { type: 'citation-start', delta: { message: { citations: planned } } },
    { type: 'message-end', delta: { finish_reason: 'COMPLETE' } },
  ],
  citations: [
    { ...SOURCE, text: 'cold', ...PLACE, raw: source },
    { ...SOURCE, text: 'cold', raw: source },
  ],
};

const WIRES: Readonly<Record<string, Cited>> = {
  'chat.completions': completions,
  responses,
  messages,
  generateContent,
  'cohere.chat.v2': cohere,
};

/** Citations in events, before the answer. */
const citationsIn = (events: readonly ChatEvent[]): readonly Citation[] =>
  events.slice(0, -1).flatMap((event) => (event.type === 'citation' ? event.citation : []));

const bytes = (whole: string): readonly Uint8Array[] => [new TextEncoder().encode(whole)];
const named = ({ type }: { readonly type?: string }): string => (type ? `event: ${type}\n` : '');
const stream = ({ events }: Cited): readonly Uint8Array[] =>
  bytes(events.map((event) => `${named(event)}data: ${JSON.stringify(event)}\n\n`).join(''));

describe('citations', () => {
  const cases = CHAT_WIRES.flatMap((wire): [ChatWire, Cited][] => {
    const answer = WIRES[wire.api];
    // a package of others reads what it knows
    return answer && wire.name === undefined ? [[wire, answer]] : [];
  });

  for (const [wire, answer] of cases) {
    it(`of ${wire.api} are in the answer of a call and of a stream`, async () => {
      const ask = (pieces: readonly Uint8Array[], type: string) =>
        wire.make('http://127.0.0.1', { fetch: answering(pieces, type) });

      const document = bytes(JSON.stringify(answer.document));
      const called = await ask(document, 'application/json').call(new Prompt('hi'));
      const streamed = await streamFrom(ask(stream(answer), wire.streamType));

      expect(called.citations).to.deep.equal(answer.citations);
      expect(streamed.response.citations).to.deep.equal(answer.citations);
      expect(citationsIn(streamed.events)).to.deep.equal(answer.citations);
    });
  }

  it('are tested for each wire that has them', () => {
    expect(cases.map(([{ api }]) => api)).to.deep.equal(Object.keys(WIRES));
  });
});
