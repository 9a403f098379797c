import { alertExpectation } from '../kinds/alert/body.ts'
import type { ResourceManifest } from '../kinds/manifest.ts'
import { pipeBody } from '../kinds/pipe/body.ts'
import { endpointBody } from '../kinds/query-endpoint/body.ts'
import type { JsonObject } from '../lib/json.ts'

/** The body of the interface that a manifest asks for, references in place; alerts and services have none. */
export function bodyOf(manifest: ResourceManifest): JsonObject | undefined {
  switch (manifest.kind) {
    case 'Pipe':
      return pipeBody(manifest)
    case 'QueryEndpoint':
      return endpointBody(manifest)
    case 'Alert':
    case 'Service':
      return undefined
  }
}

/** What a reply is compared with: the body that is asked for, or what an alert is expected to be. */
export function expectedOf(manifest: ResourceManifest): JsonObject | undefined {
  return manifest.kind === 'Alert' ? alertExpectation(manifest) : bodyOf(manifest)
}
