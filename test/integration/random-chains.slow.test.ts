import { describeRandomChains } from '../support/random-chains.js';

describeRandomChains({ scenes: 1_000 });
