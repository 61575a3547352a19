import '../support/full-sweeps.js';
import './random-chains.test.js';
