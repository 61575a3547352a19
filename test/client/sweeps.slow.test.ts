import '../support/full-sweeps.js';
import './async-iterator.test.js';
import './run.test.js';
import './template.test.js';
