import type { Emit } from '../reconcile/events.ts'

/** For commands that say themselves what they do: nobody subscribes. */
export const nobody: Emit = () => undefined
