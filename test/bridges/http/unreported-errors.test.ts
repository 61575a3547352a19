import { expect } from 'chai';
import { toResponse, type HttpError } from '../../../src/bridges/http/index.js';
import { serveOpenAI } from '../../../src/bridges/serve/index.js';
import { InMemoryTurnLog, TurnStreams } from '../../../src/bridges/turn-log/index.js';
import { toUIMessageStream } from '../../../src/bridges/ui/index.js';
import { ChatClient } from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { printedDuring } from '../../support/printed-during.js';

const down = new Error('the database is down');
const failing = (error: Error = down) => ChatClient.create(new ScriptedChatModel([error]));
const turn = (error?: Error) => failing(error).prompt('Q').stream();

describe('an error of which a client gets an id alone', () => {
  it('is printed with this id, once, if no onError is given', async () => {
    const shown: HttpError[] = [];
    const errorOf = async (response: Response): Promise<void> => {
      shown.push(((await response.json()) as { readonly error: HttpError }).error);
    };
    const logged = new TurnStreams({ log: new InMemoryTurnLog() });
    const endpoint = serveOpenAI({ clients: failing(), authorize: () => true });
    const asked = { model: 'm', messages: [{ role: 'user', content: 'Q' }] };
    const request = new Request('http://localhost/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer key' },
      body: JSON.stringify(asked),
    });

    const printed = await printedDuring(async () => {
      await errorOf(await toResponse(turn(), { format: 'sse' }));
      await errorOf(await toResponse(await logged.start('run', turn()), { format: 'sse' }));
      await errorOf(await endpoint(request));
    });

    expect(shown.map(({ status }) => status)).to.deep.equal([500, 500, 500]);
    expect(printed.map(([text]) => text)).to.deep.equal(
      shown.map(({ id }) => `advisor-chain: a request failed (${id})`),
    );
    for (const [, error] of printed) expect(error).to.equal(down);
  });

  it('is printed for chunks of the AI SDK, too', async () => {
    const printed = await printedDuring(async () => {
      const reader = toUIMessageStream(turn()).getReader();
      while (!(await reader.read()).done);
    });

    expect(printed.map(([, error]) => error)).to.deep.equal([down]);
  });

  it('is printed with its code if an own form of it has no id', async () => {
    const toError = (): HttpError => ({ status: 503, code: 'closed', message: 'Come back.' });

    const printed = await printedDuring(() => toResponse(turn(), { format: 'sse', toError }));

    expect(printed).to.deep.equal([['advisor-chain: a request failed (closed)', down]]);
  });

  it('is not printed below status 500, nor if onError is given', async () => {
    const own: unknown[] = [];
    const left = Object.assign(new Error('left'), { name: 'AbortError' });

    const printed = await printedDuring(async () => {
      await toResponse(turn(left), { format: 'sse' });
      await toResponse(turn(), { format: 'sse', onError: (error) => own.push(error) });
    });

    expect(printed).to.deep.equal([]);
    expect(own).to.deep.equal([down]);
  });
});
