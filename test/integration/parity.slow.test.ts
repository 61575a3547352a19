import '../support/full-sweeps.js';
import './parity.test.js';
