import { describeRandomChains } from '../support/random-chains.js';
import { sweep } from '../support/sweep.js';

describeRandomChains({ scenes: sweep(4_000) });
