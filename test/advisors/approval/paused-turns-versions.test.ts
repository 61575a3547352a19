import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { PausedTurn } from '../../../src/index.js';
import { decideAll, signedState } from '../../support/paused-turns.js';
import { FIXTURE, memoryOf, payingClient } from '../../support/paused-fixture.js';

/**
 * A turn that an earlier package has paused, for the second time: with a memory, tools that have run,
 * and a decision. Never made again while the version of the format is 1: packages must read it.
 */
const paused = JSON.parse(readFileSync(FIXTURE, 'utf8')) as PausedTurn;
const payloadOf = (state: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(state.split('.')[2] as string, 'base64url').toString()) as never;

describe('the state of an earlier package', () => {
  it('is of version 1', () => {
    expect(paused.state).to.match(/^paused-turn\.1\./);
  });

  it('continues: no finished call is repeated, and the whole turn is stored', async () => {
    const { client, ran, prompts } = payingClient(['Paid both.']);
    const response = await client
      .resume(paused.state, decideAll({ paused } as never))
      .call()
      .chatClientResponse();

    expect(response.text).to.equal('Paid both.');
    expect(ran).to.deep.equal(['pay {"amount":6}']);
    expect(prompts()).to.equal(1);
    expect(response.transcript.map(({ role }) => role)).to.deep.equal(
      'system user assistant tool tool assistant tool assistant'.split(' '),
    );
    expect(response.usage?.totalTokens).to.equal(33);
    const { messages } = await memoryOf(client).load('anna-7');
    expect(messages.map(({ role }) => role)).to.deep.equal(['user', 'assistant']);
  });

  it('may have fields that this package does not know', async () => {
    const { client, ran } = payingClient(['Paid both.']);
    const payload = JSON.stringify({ ...payloadOf(paused.state), later: { added: true } });
    const state = await signedState(payload);

    const text = await client
      .resume(state, decideAll({ paused } as never))
      .call()
      .content();

    expect([text, ran.length]).to.deep.equal(['Paid both.', 1]);
  });

  for (const missing of ['id', 'turnId', 'messages', 'steps', 'requests', 'decided', 'expiresAt'])
    it(`is invalid without ${missing}`, async () => {
      const { client } = payingClient([]);
      const { [missing]: _removed, ...rest } = payloadOf(paused.state);
      const state = await signedState(JSON.stringify(rest));

      const error: unknown = await client
        .resume(state)
        .call()
        .content()
        .catch((thrown: unknown) => thrown);

      expect(error).to.have.property('reason', 'invalid');
    });
});
