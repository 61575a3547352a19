import { expect } from 'chai';
import { ChatResponse, IncompleteResponseError, ModelCallError } from '../../../src/index.js';
import { BodyReader, type ResponseFold } from '../../../src/models/http/body-reader.js';
import { LimitExceededError } from '../../../src/core/errors/errors.js';

/** A fold whose answer is complete with the field `done`. */
class TextFold implements ResponseFold {
  readonly expected = 'a text';
  readonly usage = undefined;
  text = '';
  finished = false;

  constructor(
    readonly hasLines: boolean,
    private readonly endsItself: boolean,
  ) {}

  get ended(): boolean {
    return this.endsItself && this.finished;
  }

  addEvent({ text = '', done }: { readonly text?: string; readonly done?: boolean }): void {
    this.text += text;
    if (done) this.finished = true;
  }

  addDocument(document: unknown): void {
    this.addEvent(document as object);
  }

  response(): ChatResponse {
    return ChatResponse.ofText(this.text);
  }
}

const LINES = '{"text":"a"}\n{"text":"b"}\n{"text":"c","done":true}\n';

function read(body: string, { hasLines = true, ends = false, maxEventBytes = Infinity } = {}) {
  const fold = new TextFold(hasLines, ends);
  const reader = new BodyReader(fold, () => [], { maxEventBytes, maxResponseValues: Infinity });
  for (const byte of new TextEncoder().encode(body)) reader.push(Uint8Array.of(byte));
  return { reader, response: () => reader.end(new Headers()) };
}

describe('BodyReader with lines', () => {
  it('reads one event a line', () => {
    expect(read(LINES).response().text).to.equal('abc');
  });

  it('reads a document in one line', () => {
    expect(read('{"text":"abc","done":true}').response().text).to.equal('abc');
  });

  it('reads a document of an API whose streams are server-sent events', () => {
    const { response } = read('{"text":"abc","done":true}', { hasLines: false });

    expect(response().text).to.equal('abc');
  });

  for (let length = 1; length < LINES.length - 2; length++)
    it(`takes no answer cut after ${length} bytes for a complete one`, () => {
      expect(read(LINES.slice(0, length)).response).to.throw(IncompleteResponseError);
    });

  it('rejects with an error that a line reports', () => {
    const make = (): unknown => read('{"text":"a"}\n{"error":"out of memory"}\n').response();

    expect(make).to.throw('the server reported an error');
  });

  it('rejects a page', () => {
    expect(read('<html></html>').response).to.throw(ModelCallError, 'not with a text');
  });

  it('refuses a line beyond the limit before it ends', () => {
    const make = (): unknown => read(`{"text":"${'x'.repeat(64)}`, { maxEventBytes: 32 });

    expect(make).to.throw(LimitExceededError, '32 bytes');
  });

  it('is done with the event that ends the stream, and ignores what follows', () => {
    const { reader, response } = read(`${LINES}{"text":"more"}\n`, { ends: true });

    expect(reader.done).to.equal(true);
    expect(response().text).to.equal('abc');
  });
});
