import type { UpsertKind } from '../../src/kinds/definition.ts'
import type { RemoteResource } from '../../src/kinds/remote-resource.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import type { Looks, Platform, ServiceAccess } from '../../src/contract/platform.ts'
import type { Fence } from '../../src/platform/handle-reply.ts'
import { remoteError, replyOf } from '../reconcile/model-platform.ts'
import { judgeUpsert } from './laws.ts'
import { NO_CHOICE } from './ledger.ts'
import { SECOND } from './model.ts'
import { judgeSent } from './pod-laws.ts'
import { REQUEST_MS } from './pods.ts'
import { choose, forever, tell, type Process, type Run } from './run.ts'

/** What is passed right before a request goes out. */
export interface Sending {
  readonly fence: Fence
  /** The monotonic clock of who sends. */
  now(): number
}

/** A body that was made longer ago is not sent, as the platform client does it: ms. */
const FRESH_MS = 5 * SECOND

/** A query endpoint is applied, as its manifest asks for when the request goes out. */
export function upserting(
  run: Run,
  process: Process | typeof NO_CHOICE,
  { sending, looksAt }: { readonly sending: Sending; readonly looksAt: (service: ServiceAccess) => Looks },
): Platform['upsert'] {
  const { model } = run
  const isDead = () => process !== NO_CHOICE && process.isDead

  return async (_kind: UpsertKind, service, makeBody) => {
    if (isDead()) return forever()
    if (process === NO_CHOICE) throw new Error('nobody applies at the shell')
    for (;;) {
      await run.passMeanwhile(run, process, 'while its upsert waits for the budget', 'permit')
      if (isDead()) return forever()
      const text = await makeBody(looksAt(service))
      if (model.pods === undefined) judgeUpsert(run, service, text)
      else await fenced(process, service, text)
      const body = JSON.parse(text) as JsonObject & { readonly allowedOrigins: string } // ours
      const taken = choose(run, [
        { name: 'answered', cost: 0 },
        { name: 'fails, and is tried again', cost: 1 },
        run.world.crashes && { name: 'dies', cost: 1 },
        run.world.replies.includes('dies, late') && { name: 'dies, late', cost: 1 },
      ])
      tell(run, `  It applies the endpoint with allowedOrigins "${body.allowedOrigins}" (${taken}).`)
      if (taken === 'dies, late' && model.pods !== undefined) {
        const before = model.now + REQUEST_MS
        model.pods.late = [...model.pods.late, { origins: body.allowedOrigins, before }]
      }
      if (taken === 'dies' || taken === 'dies, late') return process.die()
      if (taken === 'answered') {
        if (model.pods !== undefined) model.pods.applied = body.allowedOrigins
        const value = { id: 'endpoint', ...body } as RemoteResource // our own body, as 2.7 has it
        return replyOf(value)
      }
    }
  }

  /** As the platform client does it: the fence, and then the clock, are the last before the bytes. */
  async function fenced(sender: Process, service: ServiceAccess, text: string): Promise<void> {
    const freshUntil = sending.now() + FRESH_MS
    const notAfter = Math.min(freshUntil, await sending.fence())
    if (isDead()) return forever()
    await run.passMeanwhile(run, sender, 'while it stands still before its upsert', 'standstill')
    if (isDead()) return forever()
    if (sending.now() > notAfter) {
      tell(run, '  It is too late for its upsert, and nothing is sent.')
      throw remoteError('Unavailable', 'none')
    }
    judgeSent(run, sender, (acting) => judgeUpsert(acting, service, text))
  }
}
