import { itSurvivesKills } from '../support/durable-kills.js';

itSurvivesKills([1, 9]);
