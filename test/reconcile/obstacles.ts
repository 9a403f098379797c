import type { JsonObject } from '../../src/lib/json.ts'
import type { LedgerRecord } from '../../src/plan/record.ts'
import type { ErrorClass } from '../../src/reconcile/remote-error.ts'
import type { ModelPipe, Post } from './model-platform.ts'

/** What stands between a request and the platform, besides what is scripted for the next ones; and who sees both. */
export interface Obstacles {
  /** How the reading of a pipe that exists fails. @param isMissed whether a script says that it is not found */
  read(pipe: ModelPipe, isMissed: boolean): 'missing' | 'gateway' | undefined
  /** How a create is refused. */
  create(serviceId: string, body: JsonObject): ErrorClass | undefined
  /** A create arrived; what became of it is known. */
  posted(post: Post, owner: LedgerRecord | undefined): void
}

export const NO_OBSTACLES: Obstacles = {
  read: (_pipe, isMissed) => (isMissed ? 'missing' : undefined),
  create: () => undefined,
  posted: () => undefined,
}
