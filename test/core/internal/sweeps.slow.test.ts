import '../../support/full-sweeps.js';
import './json.test.js';
import './partial-json.test.js';
