import type { JsonObject } from '../../src/lib/json.ts'
import type { Effect, ErrorClass } from '../../src/contract/remote-error.ts'

/** How the platform treats one request. Whatever is not scripted is answered in full. */
export type Script =
  | {
      readonly type: 'fail'
      readonly class: ErrorClass
      readonly effect: Effect
      readonly worked: boolean
      /** Whether what came of the reply holds the id of the new pipe. */
      readonly showsId?: boolean
    }
  /** Nobody hears the reply, ever: the process is gone. */
  | { readonly type: 'lost'; readonly worked: boolean }
  /** It is answered in full once `until` is fulfilled; the work is done before that. */
  | { readonly type: 'slow'; readonly until: Promise<void> }
  /** Something changed a field on the way. */
  | { readonly type: 'other'; readonly change: JsonObject; readonly until?: Promise<void> }
  /** The credentials of the platform are not mounted. */
  | { readonly type: 'no-credentials' }

/** A reply with the id of something else, or of nothing. */
export function isDoubtful(script: Script | 'ok'): boolean {
  return script !== 'ok' && script.type === 'other' && ('id' in script.change || 'serviceId' in script.change)
}
