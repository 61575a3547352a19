import { expect } from 'chai';
import {
  type ChatClient,
  defineAdvisor,
  defineTool,
  InMemoryKeyValueStore,
  InvalidArgumentError,
  ResponseCacheAdvisor,
  type PromptSpec,
} from '../../../src/index.js';
import { MODES } from '../../support/modes.js';
import { Random } from '../../support/random.js';
import { BY_USER, cachedClient, EVERYONE, turnOf, USER } from '../../support/response-cache.js';

const look = (description: string) =>
  defineTool({ name: 'look', description, effect: 'read', execute: () => 'seen' });
const format = (value: string) => ({ type: 'object', properties: { [value]: {} } });

/** Requests of which no two may share an answer. */
const DIFFERENT: Readonly<Record<string, (client: ChatClient) => PromptSpec>> = {
  'a question': (client) => client.prompt('?'),
  'another question': (client) => client.prompt('??'),
  'a system text': (client) => client.prompt('?').system('You are a geographer.'),
  'another system text': (client) => client.prompt('?').system('You are a cook.'),
  'a history': (client) =>
    client
      .prompt()
      .messages(
        { role: 'user', content: 'Hello' },
        { role: 'assistant', content: 'Hello!' },
        { role: 'user', content: '?' },
      ),
  'another model': (client) => client.prompt('?').options({ model: 'other' }),
  'a temperature': (client) => client.prompt('?').options({ temperature: 0.5 }),
  'a stop sequence': (client) => client.prompt('?').options({ stopSequences: ['.'] }),
  'a field of the body': (client) => client.prompt('?').options({ extraBody: { top: 1 } }),
  'a tool': (client) => client.prompt('?').tools(look('Looks.')),
  'a tool with another description': (client) => client.prompt('?').tools(look('Looks twice.')),
  'a response format': (client) =>
    client.prompt('?').options({ responseFormat: { schema: format('a') } }),
  'another response format': (client) =>
    client.prompt('?').options({ responseFormat: { schema: format('b') } }),
  'a picture': (client) =>
    client.prompt().messages({
      role: 'user',
      content: [
        { type: 'text', text: '?' },
        { type: 'image', data: new Uint8Array([1, 2]), mediaType: 'image/png' },
      ],
    }),
  'another picture': (client) =>
    client.prompt().messages({
      role: 'user',
      content: [
        { type: 'text', text: '?' },
        { type: 'image', data: new Uint8Array([1, 3]), mediaType: 'image/png' },
      ],
    }),
};

describe('ResponseCacheAdvisor', () => {
  for (const [options, message] of [
    [{}, 'scope must be a function, not undefined'],
    [{ ...EVERYONE, cacheable: true }, 'cacheable must be a function, not true'],
    [{ ...EVERYONE, toolCalls: 'all' }, `toolCalls must be 'none' or 'read', not "all"`],
    [{ ...EVERYONE, tags: ['a'] }, 'tags must be a function, not an array'],
    [{ ...EVERYONE, store: {} }, 'store must be a KeyValueStore, not an object'],
    [{ ...EVERYONE, ttl: 0 }, 'ttl must be a number > 0 and <= 1e12, not 0'],
    [{ ...EVERYONE, maxLength: 0 }, 'maxLength must be an integer >= 1, not 0'],
  ] as const)
    it(`rejects ${message}`, () => {
      expect(() => new ResponseCacheAdvisor(options as never)).to.throw(
        InvalidArgumentError,
        `ResponseCacheAdvisor: ${message}`,
      );
    });

  for (const mode of MODES) {
    it(`${mode}: asks the model once for equal requests`, async () => {
      const { client, model } = cachedClient();

      const first = await turnOf(client.prompt('?'), mode);
      const second = await turnOf(client.prompt('?'), mode);
      const other = await turnOf(client.prompt('!'), mode);

      expect([first.text, second.text, other.text]).to.deep.equal([
        'Answer 0.',
        'Answer 0.',
        'Answer 1.',
      ]);
      expect(model.prompts).to.have.length(2);
    });

    it(`[GRD-06] ${mode}: has a key for each part of a request on which the answer depends`, async () => {
      const { client, model } = cachedClient();
      const specs = Object.values(DIFFERENT);

      const first = [];
      for (const spec of specs) first.push((await turnOf(spec(client), mode)).text);
      const second = [];
      for (const spec of specs) second.push((await turnOf(spec(client), mode)).text);

      expect(new Set(first).size).to.equal(specs.length);
      expect(second).to.deep.equal(first);
      expect(model.prompts).to.have.length(specs.length);
    });

    it(`${mode}: an answer of the cache has cost nothing, and has the rest of the first one`, async () => {
      const usage = { inputTokens: 5, outputTokens: 3, totalTokens: 8 };
      const citations = [{ kind: 'web', url: 'https://example.org' }] as never;
      const { client } = cachedClient({}, [{ text: 'Rome.', reasoning: 'Hm.', usage, citations }]);

      const { response: first } = await turnOf(client.prompt('?'), mode);
      const { response: second } = await turnOf(client.prompt('?'), mode);

      expect(second?.generations).to.deep.equal(first?.generations);
      expect(second?.usage?.totalTokens).to.equal(0);
      expect(second?.ledger).to.deep.equal([]);
      expect(second?.metadata?.['responseCache']).to.have.keys('storedAt');
      expect(first?.metadata?.['responseCache']).to.equal(undefined);
    });

    it(`${mode}: an answer of a call is a hit of a stream, and the reverse`, async () => {
      const { client, model } = cachedClient();
      const other = mode === 'call' ? 'stream' : 'call';

      await turnOf(client.prompt('?'), other);
      const { text } = await turnOf(client.prompt('?'), mode);

      expect(text).to.equal('Answer 0.');
      expect(model.prompts).to.have.length(1);
    });
  }

  it('500 random turns of 20 scopes get no answer of another scope', async () => {
    const canary = defineAdvisor({
      name: 'canary',
      order: 9_000,
      after: (response, { context }) => {
        const message = { role: 'assistant', content: `for ${context.get(USER)}` } as const;
        return response.with({ generations: [{ message, finishReason: 'stop' }] });
      },
    });
    const { client, model } = cachedClient(BY_USER, undefined, canary);
    const random = new Random(7);

    const wrong = [];
    for (let turn = 0; turn < 500; turn++) {
      const user = `user ${random.below(20)}`;
      const spec = client.prompt(`Question ${random.below(5)}?`);
      const asked = spec.advisors((a) => a.param(USER, user));
      const { text } = await turnOf(asked, random.pick(MODES));
      if (text !== `for ${user}`) wrong.push([user, text]);
    }

    expect(wrong).to.deep.equal([]);
    expect(model.prompts).to.have.length(100);
  });

  it('reports what it did, and streams the text of a hit', async () => {
    const { client } = cachedClient();

    const first = await turnOf(client.prompt('?'));
    const second = await turnOf(client.prompt('?'));

    expect(first.outcomes).to.deep.equal(['miss', 'stored']);
    expect(second.outcomes).to.deep.equal(['hit']);
    expect(second.events.map(({ type }) => type)).to.deep.equal([
      'custom',
      'text-delta',
      'response',
    ]);
  });

  it('does not depend on the order of keys, and on options that change no answer', async () => {
    const { client, model } = cachedClient();
    const spec = (options: object) => client.prompt('?').options(options);

    await turnOf(spec({ temperature: 0, seed: 1, user: 'anna', metadata: { id: '1' } }));
    const { outcomes } = await turnOf(spec({ seed: 1, temperature: 0, user: 'ben' }));

    expect(outcomes).to.deep.equal(['hit']);
    expect(model.prompts).to.have.length(1);
  });

  it('gives each turn an answer of its own', async () => {
    const { client } = cachedClient();
    await turnOf(client.prompt('?'));

    const { response: first } = await turnOf(client.prompt('?'));
    const { response: second } = await turnOf(client.prompt('?'));

    expect(first?.chatResponse).not.to.equal(second?.chatResponse);
    expect(Object.isFrozen(second?.chatResponse)).to.equal(true);
  });

  it('shares answers by a store, also with another client', async () => {
    const store = new InMemoryKeyValueStore();
    const one = cachedClient({ store });
    const other = cachedClient({ store }, []);

    await turnOf(one.client.prompt('?'));
    const { outcomes, text } = await turnOf(other.client.prompt('?'));

    expect([outcomes, text]).to.deep.equal([['hit'], 'Answer 0.']);
  });

  it('equal turns at the same time each ask the model', async () => {
    const { client, model } = cachedClient();

    const turns = await Promise.all([1, 2, 3].map(() => turnOf(client.prompt('?'))));

    expect(turns.map(({ text }) => text)).to.deep.equal(['Answer 0.', 'Answer 1.', 'Answer 2.']);
    expect(model.prompts).to.have.length(3);
  });

  it('keeps no answer of a stream that is cancelled midway', async () => {
    const { client, model } = cachedClient({}, [{ text: 'One two three.', delay: 1 }, 'Whole.']);
    const texts: string[] = [];
    for await (const text of client.prompt('?').stream()) {
      texts.push(text);
      break;
    }

    const { outcomes, text } = await turnOf(client.prompt('?'));

    expect(texts).to.have.length(1);
    expect([outcomes, text]).to.deep.equal([['miss', 'stored'], 'Whole.']);
    expect(model.prompts).to.have.length(2);
  });

  it('asks again when the lifetime of an answer is over', async () => {
    const store = new InMemoryKeyValueStore();
    const written: [string, number | undefined][] = [];
    const set = store.set.bind(store);
    store.set = (key, value, options) => {
      written.push([key, options?.ttl]);
      return set(key, value, options);
    };
    const { client } = cachedClient({ store, ttl: 5_000 });

    await turnOf(client.prompt('?'));
    for (const [key] of written) await store.delete(key); // as the store does
    const { outcomes } = await turnOf(client.prompt('?'));

    expect(written.map(([, ttl]) => ttl)).to.deep.equal([5_000, 5_000]);
    expect(outcomes).to.deep.equal(['miss', 'stored']);
  });
});
