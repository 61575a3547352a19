import '../../support/full-sweeps.js';
import './check-call.property.test.js';
