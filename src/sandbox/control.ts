import type { JsonObject } from '../lib/json.ts'
import type { Faults } from './faults.ts'
import type { Home } from './home.ts'
import type { Incidents } from './incidents.ts'
import { mergePatch } from '../lib/merge-patch.ts'
import { type PipeInSandbox, viewPipe } from './pipe-view.ts'
import type { RecordedRequest, StoredEndpoint } from './stored.ts'

/** What one can see and do behind the platform's back. */
export interface SandboxControl {
  readonly faults: Faults
  /** All pipes there are, in the order of their creation. */
  pipes(): readonly PipeInSandbox[]
  endpoints(): readonly StoredEndpoint[]
  /** `spec/api.md` 2.8. */
  alerts(): readonly JsonObject[]
  /** Every request to the interface, in the order of arrival; the last 100,000. */
  requests(): readonly RecordedRequest[]
  /** Makes a pipe disappear. @throws Error when there is none */
  vanish(pipeId: string): void
  /** Changes a pipe by a JSON merge patch; `state` then no longer follows the time. @throws Error when there is none */
  change(pipeId: string, patch: JsonObject): void
  /** Changes an alert by a JSON merge patch, or makes one. */
  setAlert(id: string, patch: JsonObject): void
}

export interface ControlParts {
  readonly home: Home
  readonly incidents: Incidents
  readonly faults: Faults
  readonly provisioningMs: number
  /** ms since the epoch. */
  readonly now: () => number
}

export function createControl({
  home,
  incidents,
  faults,
  provisioningMs,
  now,
}: ControlParts): SandboxControl {
  return {
    faults,
    pipes: () =>
      home.transaction(() =>
        home
          .pipes()
          .flatMap((pipe) => incidents.befallPipe(pipe, now()) ?? [])
          .map((pipe) => ({ ...viewPipe(pipe, now(), provisioningMs), organizationId: pipe.organizationId })),
      ),
    endpoints: () => home.endpoints(),
    alerts: () =>
      home.transaction(() => home.alerts().map((alert) => incidents.befallAlert(alert, now()).body)),
    requests: () => home.requests(),
    vanish(pipeId) {
      if (!home.removePipe(pipeId)) throw new Error(`there is no pipe ${pipeId}`)
    },
    change(pipeId, patch) {
      home.transaction(() => {
        const pipe = home.pipe(pipeId)
        if (pipe === undefined) throw new Error(`there is no pipe ${pipeId}`)
        home.putPipe({ ...pipe, updatedAt: now(), body: mergePatch(pipe.body, patch) })
      })
    },
    setAlert(id, patch) {
      home.transaction(() => {
        const at = new Date(now()).toISOString()
        const before = home.alert(id) ?? { id, at: now(), body: { id, createdAt: at }, incidents: [] }
        home.putAlert({ ...before, body: mergePatch(before.body, { updatedAt: at, ...patch }) })
      })
    },
  }
}
