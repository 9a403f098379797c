import { serviceOf, type ResourceManifest } from '../../kinds/manifest.ts'
import { asService, serviceKey, type ServiceManifest } from '../../kinds/service/kind.ts'
import { sameId } from '../../lib/same-id.ts'
import type { ServiceProblem } from '../../plan/reasons/refusing.ts'
import type { LedgerRecord, ServiceIdentity } from '../../plan/record.ts'
import type { ServiceAccess } from '../../contract/platform.ts'
import { type StateStore, serviceIdentityOf } from '../state/store.ts'

export type DesiredService =
  | { readonly usable: true; readonly identity: ServiceIdentity; readonly access: ServiceAccess }
  | { readonly usable: false; readonly problem: ServiceProblem }

export function desiredService(store: StateStore, manifest: ResourceManifest | undefined): DesiredService {
  const name = manifest && serviceOf(manifest)
  if (name === undefined) return { usable: false, problem: { is: 'not named' } }
  const service = store.service(name)
  if (service === undefined) return { usable: false, problem: { is: 'not valid', service: serviceKey(name) } }
  return { usable: true, identity: serviceIdentityOf(service), access: accessOf(service) }
}

/** Of the service where the pipe was created, because a 404 from another service would prove nothing. */
export function recordedAccess(
  store: StateStore,
  { service: recorded }: LedgerRecord,
  desired: DesiredService,
): ServiceAccess | undefined {
  if (desired.usable && (recorded === undefined || isSame(recorded, desired.identity))) return desired.access
  if (recorded === undefined) return undefined
  const manifest = manifestOf(store, recorded)
  return manifest && accessOf(manifest)
}

function manifestOf(store: StateStore, service: ServiceIdentity): ServiceManifest | undefined {
  const named = store.service(service.name)
  if (named !== undefined && isSame(service, serviceIdentityOf(named))) return named
  for (const { manifest } of store.catalog?.entries.values() ?? []) {
    const candidate = asService(manifest)
    if (candidate !== undefined && isSame(service, serviceIdentityOf(candidate))) return candidate
  }
  return undefined
}

function isSame(a: Ids, b: Ids): boolean {
  return sameId(a.organizationId, b.organizationId) && sameId(a.serviceId, b.serviceId)
}

type Ids = Pick<ServiceIdentity, 'organizationId' | 'serviceId'>

export function isOtherService(record: LedgerRecord, desired: DesiredService): boolean {
  return record.service !== undefined && desired.usable && !isSame(record.service, desired.identity)
}

export function sameService(a: DesiredService, b: DesiredService): boolean {
  if (!a.usable || !b.usable) return a.usable === b.usable
  return sameAccess(a.access, b.access)
}

export function sameAccess(a: ServiceAccess, b: ServiceAccess): boolean {
  return isSame(a, b) && a.secretName === b.secretName && a.name === b.name
}

export function accessOf(service: ServiceManifest): ServiceAccess {
  return { ...serviceIdentityOf(service), secretName: service.spec.credentials.secretRef.name }
}
