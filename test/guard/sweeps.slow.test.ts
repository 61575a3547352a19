import '../support/full-sweeps.js';
import './pattern-rule.test.js';
import './secrets.test.js';
