import { HybridToolIndex, KeywordToolIndex, RegexToolIndex } from '../../../src/index.js';
import { itAcceptsLongTexts } from '../../support/tool-index-laws.js';

itAcceptsLongTexts('KeywordToolIndex', () => new KeywordToolIndex(), 1_000_000);
itAcceptsLongTexts('RegexToolIndex', () => new RegexToolIndex(), 1_000_000);
itAcceptsLongTexts(
  'HybridToolIndex',
  () => new HybridToolIndex({ indexes: [new KeywordToolIndex(), new RegexToolIndex()] }),
  1_000_000,
);
