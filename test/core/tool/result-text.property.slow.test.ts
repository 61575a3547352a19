import '../../support/full-sweeps.js';
import './result-text.property.test.js';
