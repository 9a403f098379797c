import type { Dialect } from './dialect.ts'
import type { PipeInSandbox, PipeView, StoredPipe } from './stored.ts'

export interface Views {
  /** In state `Provisioning`: ms. */
  readonly provisioningMs: number
  /** In each transitional state: ms. */
  readonly movingMs: number
  /** Replies omit a new size for this long: ms. */
  readonly scalingLagMs: number
  readonly dialect: Dialect
}

type ViewsNow = Views & { readonly now: number }

export function viewPipe(pipe: StoredPipe, views: ViewsNow): PipeView {
  const { now, scalingLagMs, dialect } = views
  const { name, state: _seen, ...parts } = pipe.body
  const scaledAt = pipe.internals?.scaledAt
  const isScaling = scaledAt !== undefined && now - scaledAt < scalingLagMs
  return {
    id: pipe.id,
    serviceId: pipe.serviceId,
    name: typeof name === 'string' ? name : '',
    state: stateOf(pipe, views),
    ...dialect.spelled(isScaling ? { ...parts, scaling: { replicas: 0 } } : parts),
    createdAt: dialect.timestamp(pipe.createdAt),
    updatedAt: dialect.timestamp(pipe.updatedAt),
  }
}

export function viewInSandbox(pipe: StoredPipe, views: ViewsNow): PipeInSandbox {
  return {
    ...viewPipe(pipe, views),
    organizationId: pipe.organizationId,
    ...(views.dialect.changes && { credentialsRevision: pipe.internals?.credentialsRevision ?? 0 }),
  }
}

/** Needs no timer and survives restarts. A set `state` takes precedence. */
export function stateOf({ body, createdAt, internals }: StoredPipe, views: ViewsNow): string {
  const { now, provisioningMs, movingMs, dialect } = views
  if (typeof body['state'] === 'string') return body['state']
  if (internals?.moves === undefined)
    return now - createdAt < provisioningMs ? 'Provisioning' : dialect.settledState(body)
  const { since, states } = internals.moves
  const index = states.findIndex((_state, at) => now - since < (at + 1) * movingMs)
  return states[index] ?? states.at(-1) ?? dialect.settledState(body)
}
