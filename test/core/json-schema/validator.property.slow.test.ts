import '../../support/full-sweeps.js';
import './validator.property.test.js';
