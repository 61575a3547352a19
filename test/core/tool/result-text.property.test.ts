import { itWritesResultTexts } from '../../support/result-text-laws.js';
import { sweep } from '../../support/sweep.js';

itWritesResultTexts(sweep(5_000));
