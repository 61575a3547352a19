import { expect } from 'chai';
import { IncompleteResponseError, ModelCallError, Prompt } from '../../../src/index.js';
import { OpenAIEmbeddingModel } from '../../../src/models/openai/index.js';
import { failureOf } from '../../support/modes.js';
import { lastOf } from '../../support/recording-replay.js';
import { useWireModel } from '../../support/wire-model.js';

const PAGE = '<!doctype html><html><body>Sign in</body></html>';

/** Bodies of something else than the API, with status 200. */
const foreign: Record<string, readonly [type: string, body: string]> = {
  'a page': ['text/html; charset=utf-8', PAGE],
  'a page after blank lines': ['text/html', `\r\n\n  ${PAGE}`],
  'a page with a byte order mark': ['text/html', `\uFEFF${PAGE}`],
  'a page under application/json': ['application/json', PAGE],
  'a page under text/event-stream': ['text/event-stream', PAGE],
  'a page without content type': ['', PAGE],
  'a long page': ['text/html', PAGE.padEnd(300_000, '<p>x</p>\n')],
  'half a page': ['text/html', PAGE.slice(0, 20)],
  'an empty page': ['text/html', ''],
  'a page of a template': ['text/html', '{{ title }} is not available'],
  'a page that begins like JSON': ['text/html', '{"a":'],
  'an XML document': [
    'application/xml',
    '<?xml version="1.0"?><Error><Code>NoSuchKey</Code></Error>',
  ],
  'a text': ['text/plain', 'It works!'],
  'a script': ['application/javascript', '{ a: 1 }'],
  'JSON with an error in the middle': ['application/json', '{"choices": [{]}'],
  'a JSON text': ['application/json', '"ok"'],
  'a JSON null': ['application/json', 'null'],
  'another JSON document': ['application/json', '{"status":"ok"}'],
  'another JSON list': ['application/json', '[1, 2]'],
  'an image': ['image/png', '\u0089PNG\r\n\u001a\n'],
};

/** Bodies of the API that were cut off. */
const cut: Record<string, readonly [type: string, body: string]> = {
  nothing: ['application/json', ''],
  'nothing, without content type': ['', ''],
  'half a document': ['application/json', '{"id":"c","choices":[{"message":{"content":"a \\"b'],
  'half a document after blank lines': ['application/json', '\n\n {"data":[{"embedding":[0.1,'],
  'half a document under text/plain': ['text/plain', '{"id":"c",'],
};

describe('answers with status 200', () => {
  const wire = useWireModel();
  const uses: Record<string, () => Promise<unknown>> = {
    call: () => wire.model.call(new Prompt('hi')),
    stream: () => lastOf(wire.model.stream(new Prompt('hi'))),
    'request for embeddings': () => {
      const { baseURL } = wire.server;
      return new OpenAIEmbeddingModel({ model: 'm', apiKey: 'sk-test', baseURL }).embed(['a']);
    },
  };
  const answerWith = (type: string, body: string): void => {
    wire.answer = ({ response }) =>
      response.writeHead(200, type === '' ? {} : { 'content-type': type }).end(body);
  };

  for (const [what, ask] of Object.entries(uses)) {
    for (const [title, [type, body]] of Object.entries(foreign))
      it(`[F44] [D50] are no answer of a ${what}: ${title}`, async () => {
        answerWith(type, body);

        const error = await failureOf(ask());

        expect(error).to.be.instanceOf(ModelCallError).and.not.instanceOf(IncompleteResponseError);
        expect(error).to.include({ retryable: false });
        expect(error)
          .to.have.property('message')
          .that.includes('Does the base URL belong to the API?');
        expect(wire.server.exchanges).to.have.length(1);
      });
  }

  for (const what of ['call', 'stream'])
    for (const [title, [type, body]] of Object.entries(cut))
      it(`[D50] are an incomplete answer of a ${what}: ${title}`, async () => {
        answerWith(type, body);

        expect(await failureOf((uses[what] as () => Promise<unknown>)()))
          .to.be.instanceOf(IncompleteResponseError)
          .and.include({ retryable: true });
      });

  for (const [title, [type, body]] of Object.entries(cut))
    it(`[D50] are requested again for embeddings if they are cut off: ${title}`, async () => {
      const data = [{ index: 0, embedding: [1, 2] }];
      wire.answer = ({ index, response }) =>
        response
          .writeHead(200, type === '' ? {} : { 'content-type': type })
          .end(index === 0 ? body : JSON.stringify({ data }));

      const { vectors } = (await (uses['request for embeddings'] as () => Promise<unknown>)()) as {
        vectors: readonly Float32Array[];
      };

      expect(vectors.map((vector) => [...vector])).to.deep.equal([[1, 2]]);
      expect(wire.server.exchanges).to.have.length(2);
    });

  it('[D50] are incomplete if events were cut off, even under the content type of a page', async () => {
    answerWith('text/html', 'data: {"choices":[{"index":0,"delta":{"content":"x"}}]}\n\n');

    for (const what of ['call', 'stream'])
      expect(await failureOf((uses[what] as () => Promise<unknown>)()))
        .to.be.instanceOf(IncompleteResponseError)
        .and.include({ partialText: 'x', retryable: true });
  });
});
