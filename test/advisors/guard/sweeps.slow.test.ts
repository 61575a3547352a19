import '../../support/full-sweeps.js';
import './pattern-rule.test.js';
import './secrets.test.js';
import './hostile-texts.test.js';
import './word-rule.test.js';
