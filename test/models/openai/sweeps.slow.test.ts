import '../../support/full-sweeps.js';
import './request-text.test.js';
