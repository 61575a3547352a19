import { expect } from 'chai';
import { HttpError, toModelError } from '../../../src/models/http/http-error.js';

const errorOf = (body: string | ReadableStream<Uint8Array>): Promise<HttpError> =>
  HttpError.from(new Response(body, { status: 500 }));

/** CPU milliseconds of the fastest of three readings. */
async function costOf(body: string): Promise<number> {
  const times: number[] = [];
  for (let at = 0; at < 3; at++) {
    const start = process.cpuUsage();
    await errorOf(body);
    const { user, system } = process.cpuUsage(start);
    times.push((user + system) / 1_000);
  }
  return Math.min(...times);
}

describe('HttpError.from a hostile body', function () {
  this.timeout(30_000);

  for (const piece of [
    '<',
    '<a ',
    '<script>',
    '<style ',
    '<script></style>',
    '</script',
    '< >',
    ' \n',
    '<a><script',
    '[',
    '"',
  ]) {
    const page = (length: number): string => piece.repeat(length / piece.length);
    it(`[D42] reads a page of ${JSON.stringify(piece)} in time that grows with its size`, async () => {
      await errorOf(page(5_000));

      const small = await costOf(page(25_000));
      const large = await costOf(page(200_000));

      // eight times the size: linear is 8, quadratic is 64
      expect(large).to.be.below(24 * Math.max(small, 2));
    });
  }

  it('[D42] reads no more than 256 KiB of an error and stops the rest', async () => {
    let pulled = 0;
    let cancelled = false;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled += 65_536;
        controller.enqueue(new TextEncoder().encode('word '.repeat(13_108).slice(0, 65_536)));
      },
      cancel() {
        cancelled = true;
      },
    });

    const error = await errorOf(body);

    expect(error.body).to.be.a('string').with.length.within(200_000, 262_144);
    expect(pulled).to.be.at.most(262_144 + 3 * 65_536);
    expect(cancelled).to.equal(true);
  });

  it('[D42] shows no half of a word where an error was cut, since it may be half of a key', async () => {
    const page = `<html>${'<p class="filler">'.repeat(20_000)}`;
    const at = 262_144 - 20;
    const error = await errorOf(`${page.slice(0, at)}> no key-of-a-customer-0123456789 more`);

    expect(error.body).to.equal('no');
  });

  it('[D42] keeps the status and what was read if the body of an error breaks', async () => {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode('overloaded, retry la')),
      pull: (controller) => controller.error(new TypeError('terminated')),
    });

    expect(await errorOf(body)).to.include({ status: 500, body: 'overloaded, retry' });
  });

  it('[D42] reports an error that is nested too deeply to be shown', async () => {
    const message = '['.repeat(100_000) + ']'.repeat(100_000);
    const error = await errorOf(`{"error":{"message":${message},"code":"overloaded"}}`);

    expect(toModelError(error, new AbortController().signal, [])).to.include({
      status: 500,
      providerCode: 'overloaded',
      retryable: true,
    });
  });

  it('keeps a text with a less-than sign, and drops scripts whatever their case', async () => {
    expect((await errorOf('a < b')).body).to.equal('a < b');
    expect((await errorOf('<p>1</p> <SCRIPT>x("<p>")</Script > 2 < 3')).body).to.equal('1 2 < 3');
    expect((await errorOf('<p>1</p><script>if (a > b) x()')).body).to.equal('1');
  });
});
