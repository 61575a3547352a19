import {
  expectLimitedSeries,
  expectNoIds,
  expectSharedLimits,
  SERIES,
} from '../../support/metric-series.js';
import { MODES } from '../../support/modes.js';

const TURNS = 2_500;

describe('series of metrics', function () {
  this.timeout(120_000);
  for (const [fields, series] of Object.entries(SERIES))
    it(`[F101] are limited after ${TURNS} turns with as many ${fields}`, () =>
      expectLimitedSeries(TURNS, series));

  for (const mode of MODES)
    it(`[F101] have no ids of conversations, turns, calls or responses, ${mode}`, () =>
      expectNoIds(mode, TURNS));

  it('[F101] are limited after 10,000 conversations', () =>
    expectLimitedSeries(
      10_000,
      SERIES['conversations, turns and calls'] as (typeof SERIES)[string],
    ));

  it('[F101] are limited if each turn has its own advisor', () => expectSharedLimits(TURNS, 1_000));
});
