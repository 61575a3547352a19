import '../../support/full-sweeps.js';
import './sse-decoder.test.js';
