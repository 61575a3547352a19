import '../../support/full-sweeps.js';
import './keyword-tool-index.test.js';
