import '../support/full-sweeps.js';
import './message-codec.test.js';
