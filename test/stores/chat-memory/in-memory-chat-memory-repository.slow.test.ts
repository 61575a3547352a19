import { itStaysWithinItsLimits } from '../../support/memory-limits.js';

describe('InMemoryChatMemoryRepository', () => {
  itStaysWithinItsLimits(1_000_000);
});
