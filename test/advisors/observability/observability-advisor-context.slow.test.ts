import { expectTurnsApart } from '../../support/interleaved-turns.js';
import { useContextManager } from '../../support/recorded-spans.js';

describe('ObservabilityAdvisor with a context manager', () => {
  let stop: () => void;
  before(() => (stop = useContextManager()));
  after(() => stop());

  it('[F97] keeps 1,000 interleaved turns apart', () => expectTurnsApart(1_000));
});
