import { expect } from 'chai';
import { readJsonInput, toHttpError, type HttpError } from '../../../src/bridges/http/index.js';

const JSON_TYPE = 'application/json';

function requestOf(body: RequestInit['body'], type: string = JSON_TYPE): Request {
  return new Request('http://localhost/', {
    method: 'POST',
    headers: { 'content-type': type },
    body: body ?? null,
    duplex: 'half',
  } as RequestInit);
}

async function refusalOf(
  request: Request,
  options?: Parameters<typeof readJsonInput>[1],
): Promise<HttpError> {
  try {
    return expect.fail(`read as ${JSON.stringify(await readJsonInput(request, options))}`);
  } catch (error) {
    return toHttpError(error);
  }
}

describe('the JSON of a request', () => {
  it('is an object', async () => {
    const body = { question: 'Größe?', at: [{ n: 1 }] };

    for (const type of [JSON_TYPE, 'Application/JSON; charset=utf-8'])
      expect(await readJsonInput(requestOf(JSON.stringify(body), type))).to.deep.equal(body);
  });

  it('is refused by 400 with a content type that pages of other sites can send without asking', async () => {
    for (const type of [
      'text/plain',
      'text/plain;charset=UTF-8',
      'multipart/form-data; boundary=a',
      'application/x-www-form-urlencoded',
      'application/jsonp',
      '',
    ]) {
      const { status, message } = await refusalOf(requestOf('{"a":1}', type));
      expect([status, message]).to.deep.equal([
        400,
        'The content type of the body must be application/json.',
      ]);
    }
  });

  it('is refused by 400 if it is malformed, nested too deep, or no object', async () => {
    const deep = `{"a":${'['.repeat(70)}${']'.repeat(70)}}`;
    for (const body of ['', '{', '[]', 'null', '"x"', '{"__proto__":{"a":1}}', deep])
      expect((await refusalOf(requestOf(body))).status, body).to.equal(400);
    expect((await refusalOf(requestOf(new Uint8Array([0x7b, 0xff])))).status).to.equal(400);
    expect((await refusalOf(new Request('http://localhost/'))).status).to.equal(400);
  });

  it('is refused by 413 at the limit of bytes, also without a length, of which no more is read', async () => {
    let read = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        read++;
        controller.enqueue(new Uint8Array(400).fill(0x20));
      },
    });

    const { status, code, message } = await refusalOf(requestOf(endless), { maxBytes: 1_000 });
    const sized = await refusalOf(requestOf(`"${'x'.repeat(1_000)}"`), { maxBytes: 1_000 });

    expect([status, code]).to.deep.equal([413, 'invalid_argument']);
    expect(message).to.equal('The body is longer than 1000 bytes.');
    expect(sized.status).to.equal(413);
    expect(read).to.be.below(6);
  });

  it('has 4 MB by default', async () => {
    const body = (length: number): string => JSON.stringify({ text: 'x'.repeat(length) });

    expect(await readJsonInput(requestOf(body(4_000_000)))).to.have.property('text');
    expect((await refusalOf(requestOf(body(4_194_304)))).status).to.equal(413);
  });

  it('refuses wrong options as an error of the server', async () => {
    for (const options of [{ maxBytes: 0 }, { maxbytes: 1 }])
      expect((await refusalOf(requestOf('{}'), options as never)).status).to.equal(500);
  });
});
