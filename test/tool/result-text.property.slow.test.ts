import { itWritesResultTexts } from '../support/result-text-laws.js';

itWritesResultTexts(5_000);
