import type { z } from 'zod'
import { alertRules } from './alert/rules.ts'
import { AlertManifest } from './alert/schema.ts'
import type { Violation } from './finding.ts'
import type { Kind } from './key.ts'
import { LockManifest } from './lock/schema.ts'
import type { Manifest } from './manifest.ts'
import { pipeRules } from './pipe/rules.ts'
import { PipeManifest } from './pipe/schema.ts'
import { queryEndpointRules } from './query-endpoint/rules.ts'
import { QueryEndpointManifest } from './query-endpoint/schema.ts'
import { ServiceManifest } from './service/schema.ts'

/** All that the reading of manifests knows of a kind. */
export interface KindDefinition {
  readonly kind: Kind
  readonly schema: z.ZodType<Manifest>
  /** One sentence, for the JSON Schema and for people. */
  readonly description: string
  /** The rules beyond shape within one document, for a manifest that `schema` accepted. None for other kinds. */
  readonly rules: (manifest: Manifest) => readonly Violation[]
}

/** Every kind. A new one is a folder, a name in `KINDS`, and an entry here. */
export const REGISTRY: Readonly<Record<Kind, KindDefinition>> = {
  Service: {
    kind: 'Service',
    schema: ServiceManifest,
    description: 'A database service and the credentials for it; itself not created.',
    rules: () => [],
  },
  Pipe: {
    kind: 'Pipe',
    schema: PipeManifest,
    description: 'An ingestion pipe: a source, a destination table, and how fields become columns.',
    rules: (manifest) => (manifest.kind === 'Pipe' ? pipeRules(manifest) : []),
  },
  QueryEndpoint: {
    kind: 'QueryEndpoint',
    schema: QueryEndpointManifest,
    description: 'The query endpoint of a service: roles, API keys and origins that may query.',
    rules: (manifest) => (manifest.kind === 'QueryEndpoint' ? queryEndpointRules(manifest) : []),
  },
  Alert: {
    kind: 'Alert',
    schema: AlertManifest,
    description: 'An alert that is watched, and never changed.',
    rules: (manifest) => (manifest.kind === 'Alert' ? alertRules(manifest) : []),
  },
  Lock: {
    kind: 'Lock',
    schema: LockManifest,
    description: 'Which pipe id belongs to which key, so that a lost ledger rebuilds itself by adopting.',
    rules: () => [],
  },
}
