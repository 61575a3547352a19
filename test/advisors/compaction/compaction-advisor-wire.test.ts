import { expect } from 'chai';
import { ChatClient, CompactionAdvisor, type ChatEvent } from '../../../src/index.js';
import { reportsOf } from '../../support/compacted-turn.js';
import { assistant, user } from '../../support/conversation.js';
import { MODES, runSpec, type Mode } from '../../support/modes.js';
import { OVERFLOWS } from '../../support/overflow-wordings.js';
import { sampled } from '../../support/sweep.js';
import { recorder } from '../../support/turn.js';
import { useWireModel } from '../../support/wire-model.js';
import {
  beginEvents,
  chunk,
  completion,
  sendEvent,
  sendJson,
  sendText,
  type Exchange,
} from '../../support/wire-server.js';

const HISTORY = Array.from({ length: 10 }, (_, at) => [
  user(`question ${at}`),
  assistant('a'.repeat(800)),
]).flat();

describe('CompactionAdvisor over the wire of chat completions', () => {
  const wire = useWireModel();

  const ask = async (mode: Mode) => {
    const events: ChatEvent[] = [];
    const response = await runSpec(
      mode,
      ChatClient.create(wire.model)
        .prompt('And now?')
        .messages(...HISTORY)
        .advisors(recorder(events), new CompactionAdvisor({ maxTokens: 100_000 })),
    );
    return { response, reports: reportsOf(events) };
  };
  const accept = (mode: Mode, exchange: Exchange): void => {
    if (mode === 'call') sendJson(exchange, completion('Fine.'));
    else sendText(exchange, 'Fine.');
  };

  // the others differ in their words alone, which have tests of their own
  sampled(OVERFLOWS).forEach(({ server, message, code, type, status }, at) => {
    const mode = MODES[at % 2] as Mode;

    it(`${mode}: shortens and asks again when ${server} refuses (pi#5930: words not recognized)`, async () => {
      wire.answer = (exchange) => {
        if (exchange.index === 0) sendJson(exchange, { error: { message, code, type } }, status);
        else accept(mode, exchange);
      };

      const { response, reports } = await ask(mode);

      const [first, second] = wire.server.exchanges.map((each) => JSON.stringify(each.body));
      expect(response.text).to.equal('Fine.');
      expect(wire.server.exchanges).to.have.length(2);
      expect(second?.length).to.be.lessThan((first?.length ?? 0) / 1.5);
      expect(reports.map(({ reason }) => reason)).to.deep.equal(['overflow']);
    });
  });

  it('stream: shortens and asks again when the refusal comes in the stream', async () => {
    wire.answer = (exchange) => {
      if (exchange.index > 0) return accept('stream', exchange);
      beginEvents(exchange);
      sendEvent(exchange, chunk({ role: 'assistant', content: 'Well' }));
      sendEvent(exchange, {
        error: { message: 'Input is too long', code: 'context_length_exceeded' },
      });
      exchange.response.end();
    };

    const { response, reports } = await ask('stream');

    expect(response.text).to.equal('Fine.');
    expect(reports.map(({ reason }) => reason)).to.deep.equal(['overflow']);
  });
});
