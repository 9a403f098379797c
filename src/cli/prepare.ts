import { setTimeout } from 'node:timers/promises'
import type { Emit } from '../reconcile/events.ts'

/** A part of the daemon that can be loaded after the start. */
export interface LatePart {
  /** @throws when it cannot be loaded */
  prepare(): Promise<void>
}

const PAUSE_MS = 10

/**
 * Loads what the daemon needs only once it is ready (design §13). One after the other and with pauses, because each holds
 * up everything else for some 50 ms: in between, probes are answered and requests sent.
 */
export async function prepare(
  parts: readonly LatePart[],
  { emit, stopping }: { readonly emit: Emit; readonly stopping: AbortSignal },
): Promise<void> {
  for (const part of parts) {
    await setTimeout(PAUSE_MS)
    if (stopping.aborted) return
    await part.prepare().catch((reason: unknown) => {
      const error = reason instanceof Error ? reason : new Error(String(reason))
      emit({ type: 'Bug', message: 'a part of Pipewright could not be loaded', error })
    })
  }
}
