import type { JsonObject } from '../../lib/json.ts'
import { compareBody } from '../compare-body.ts'
import type { Difference } from '../difference.ts'
import type { ObservedAlert } from '../observed.ts'
import { ALERT_FIELDS } from './body-shape.ts'

/**
 * Where an alert differs from what is expected of it.
 * @param expect what `alertExpectation` gives
 */
export function compareAlert(expect: JsonObject, observed: ObservedAlert): readonly Difference[] {
  return compareBody(ALERT_FIELDS, expect, observed as JsonObject) // a parsed reply is JSON
}
