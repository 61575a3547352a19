import { expect } from 'chai';
import fc from 'fast-check';
import {
  anyQuestion,
  callsOfferedToolsOnly,
  firstCalls,
  NUMBER,
  TEXT,
  tool,
  WHOLE,
} from '../support/offline-scene.js';

const weather = tool('get_weather', 'Current weather in a city.', { city: TEXT });
const hotel = tool('find_hotel', 'Finds a hotel in a city.', { city: TEXT, nights: WHOLE });

describe('offlineAnswer', () => {
  it('accepts any text and any schema, and calls offered tools only', () => {
    fc.assert(fc.property(anyQuestion, callsOfferedToolsOnly), { numRuns: 500 });
  });

  it('stays fast with a thousand tools and with adversarial texts', function () {
    this.timeout(30_000);
    const many = Array.from({ length: 1_000 }, (_, at) =>
      tool(`tool_${at}`, `Does thing ${at} with a city.`, { city: TEXT, amount: NUMBER }),
    );
    const texts = [
      'a'.repeat(1e5),
      '1+'.repeat(5e4),
      'Ab, '.repeat(5e4),
      '[{"'.repeat(3e4),
      "'x".repeat(5e4),
      'a.b@'.repeat(3e4),
      '\nJSON Schema:\n{'.repeat(3e3),
    ];

    for (const slow of texts) firstCalls(slow, [weather, hotel]);
    expect(firstCalls('What is the weather in Oslo?', [...many, weather])).to.have.length(1);
  });
});
