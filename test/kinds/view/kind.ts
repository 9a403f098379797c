import type { CreateOnceKind } from '../../../src/kinds/definition.ts'
import { fieldsIn } from '../../../src/kinds/field-table.ts'
import { UUID_FORM } from '../../../src/kinds/id-form.ts'
import { ViewManifest } from './schema.ts'

const VIEWS = '/v1/organizations/{organizationId}/services/{serviceId}/views'

export const VIEW: CreateOnceKind<ViewManifest> = {
  name: 'View',
  noun: 'view',
  lifecycle: 'create-once',
  description: 'A query that is kept. No such thing exists: it shows that a kind is a folder.',
  schema: ViewManifest,
  rules: () => [],
  idForm: UUID_FORM,
  fields: fieldsIn(ViewManifest.shape.spec.omit({ service: true })),
  reply: { state: 'text', query: 'text' },
  operations: {
    create: {
      name: 'createView',
      does: 'create',
      method: 'POST',
      noun: 'view',
      api: 'services',
      path: VIEWS,
    },
    read: {
      name: 'getView',
      does: 'read',
      method: 'GET',
      noun: 'view',
      api: 'services',
      path: `${VIEWS}/{id}`,
    },
  },
  body(manifest) {
    const { service: _, name = manifest.metadata.name, ...rest } = manifest.spec
    return { name, ...rest }
  },
}
