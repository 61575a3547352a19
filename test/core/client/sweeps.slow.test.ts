import '../../support/full-sweeps.js';
import './async-iterator.test.js';
import './run.test.js';
import './template.test.js';
import './stream-entity.test.js';
import './unoffered-tools.test.js';
import './stream-texts.test.js';
