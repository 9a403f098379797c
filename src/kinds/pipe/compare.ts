import type { JsonObject } from '../../lib/json.ts'
import { compareBody } from '../compare-body.ts'
import type { Difference } from '../difference.ts'
import type { ObservedPipe } from '../observed.ts'
import { PIPE_FIELDS } from './body-shape.ts'

/**
 * Where a pipe differs from what is asked for (design §4, "Comparing").
 * @param body what `pipeBody` gives; a secretRef in it is not compared, the value in its place is
 */
export function comparePipe(body: JsonObject, observed: ObservedPipe): readonly Difference[] {
  return compareBody(PIPE_FIELDS, body, observed as JsonObject) // a parsed reply is JSON
}
