import '../support/full-sweeps.js';
import './json.test.js';
