import '../../../support/full-sweeps.js';
import './normalize-schema.property.test.js';
