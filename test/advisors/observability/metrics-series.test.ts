import {
  expectLimitedSeries,
  expectNoIds,
  expectSharedLimits,
  SERIES,
} from '../../support/metric-series.js';
import { MODES } from '../../support/modes.js';

/** More than the 100 values that most labels have. */
const TURNS = 250;
/** Maximum number of series: less than two per turn. */
const MOST = 499;

describe('series of metrics', () => {
  for (const [fields, series] of Object.entries(SERIES))
    it(`[F101] are limited after ${TURNS} turns with as many ${fields}`, () =>
      expectLimitedSeries(TURNS, { ...series, most: Math.min(series.most, MOST) }));

  for (const mode of MODES)
    it(`[F101] have no ids of conversations, turns, calls or responses, ${mode}`, () =>
      expectNoIds(mode, 100));

  it('[F101] are limited if each turn has its own advisor', () => expectSharedLimits(TURNS, MOST));
});
