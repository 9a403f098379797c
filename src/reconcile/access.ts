import { serviceOf } from '../kinds/kept-manifest.ts'
import { keyOf } from '../kinds/key.ts'
import type { ResourceManifest } from '../kinds/manifest.ts'
import { sameId } from '../lib/same-id.ts'
import type { LedgerRecord, ServiceIdentity } from '../plan/record.ts'
import type { ServiceAccess } from './ports.ts'
import type { World } from './world.ts'
import { identityOf } from './world.ts'

/** The service that a manifest asks for, or why it cannot be used. */
export type DesiredService =
  | { readonly usable: true; readonly identity: ServiceIdentity; readonly access: ServiceAccess }
  | { readonly usable: false; readonly problem: string }

export function desiredService(world: World, manifest: ResourceManifest | undefined): DesiredService {
  const name = manifest && serviceOf(manifest)
  if (name === undefined) return { usable: false, problem: 'It names no service.' }
  const service = world.service(name)
  if (service === undefined) {
    return {
      usable: false,
      problem: `${keyOf('Service', name)} has no valid manifest; it goes on by itself when it has.`,
    }
  }
  const identity = identityOf(service)
  return { usable: true, identity, access: accessOf(identity, service.spec.credentials.secretRef.name) }
}

/** Where a recorded pipe is to be looked for: in the service it was created in, whatever the manifest says now. */
export function recordedAccess(
  world: World,
  record: LedgerRecord,
  desired: DesiredService,
): ServiceAccess | undefined {
  if (record.service === undefined) return desired.usable ? desired.access : undefined
  const own = world.service(record.service.name)
  if (own !== undefined) return accessOf(record.service, own.spec.credentials.secretRef.name)
  return desired.usable ? accessOf(record.service, desired.access.secretName) : undefined
}

/** Whether the manifest now asks for another service than the record says. */
export function isOtherService(record: LedgerRecord, desired: DesiredService): boolean {
  if (record.service === undefined || !desired.usable) return false
  const { organizationId, serviceId } = desired.identity
  const { service } = record
  return !sameId(service.organizationId, organizationId) || !sameId(service.serviceId, serviceId)
}

/** Whether two of them lead to the same place with the same credentials. */
export function sameService(a: DesiredService, b: DesiredService): boolean {
  if (!a.usable || !b.usable) return a.usable === b.usable
  return sameAccess(a.access, b.access)
}

export function sameAccess(a: ServiceAccess, b: ServiceAccess): boolean {
  return (
    sameId(a.organizationId, b.organizationId) &&
    sameId(a.serviceId, b.serviceId) &&
    a.secretName === b.secretName &&
    a.name === b.name
  )
}

function accessOf(identity: ServiceIdentity, secretName: string): ServiceAccess {
  return { ...identity, secretName }
}
