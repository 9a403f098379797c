import type { CreateOnceKind, Operation, ReadOnlyKind } from '../../../definition.ts'
import { HEX_FORM } from '../../../id-form.ts'
import type { KnownStates } from '../../../state.ts'
import { ALERT as DEFAULT_ALERT } from '../../default/alert/kind.ts'
import { ALERT_CHANGES, setIn } from './changes.ts'
import { watchedRules, writtenRules } from './rules.ts'
import { ALERT_FIELDS, AlertManifest } from './schema.ts'

const ALERTS = '/v1/organizations/{organizationId}/services/{serviceId}/clickstack/alerts'

/** Facts 6.3. */
const STATES: KnownStates = {
  healthy: ['OK'],
  moving: ['PENDING', 'INSUFFICIENT_DATA'],
  unhealthy: ['ALERT', 'DISABLED'],
}

const READ_IN_SERVICE: Operation = {
  name: 'getAlert',
  does: 'read',
  method: 'GET',
  noun: 'alert',
  api: 'services',
  path: `${ALERTS}/{id}`,
}

const COMMON = {
  name: DEFAULT_ALERT.name,
  noun: DEFAULT_ALERT.noun,
  description: 'An alert: one that exists and is only watched, or one that is created in a service.',
  schema: AlertManifest,
  fields: ALERT_FIELDS,
  states: () => STATES,
  reply: DEFAULT_ALERT.reply,
} as const

/** One that its manifest asks to be created; in the service only (facts 3.3). */
const WRITTEN_ALERT: CreateOnceKind<AlertManifest> = {
  ...COMMON,
  lifecycle: 'create-once',
  rules: writtenRules,
  idForm: HEX_FORM,
  firstState: 'INSUFFICIENT_DATA',
  changes: ALERT_CHANGES,
  operations: {
    create: {
      name: 'createAlert',
      does: 'create',
      method: 'POST',
      noun: 'alert',
      api: 'services',
      path: ALERTS,
    },
    read: READ_IN_SERVICE,
    list: { name: 'listAlerts', does: 'read', method: 'GET', noun: 'alerts', api: 'services', path: ALERTS },
    update: { ...READ_IN_SERVICE, name: 'updateAlert', does: 'update', method: 'PUT' },
    delete: { ...READ_IN_SERVICE, name: 'deleteAlert', does: 'delete', method: 'DELETE' },
  },
  setIn,
  /** Channels beside the first. */
  others: { channels: { keyedBy: ['type', 'webhookId'], fields: ALERT_FIELDS.channel.fields } },
  body({ spec }) {
    const { service: _, id: __, expect: ___, ...body } = spec
    return body
  },
}

/** One that is watched: of the service, or of HyperDX. Paths, login and envelope differ (facts 3.3). */
export const ALERT: ReadOnlyKind<AlertManifest> = {
  ...DEFAULT_ALERT,
  ...COMMON,
  rules: watchedRules,
  operations: { ...DEFAULT_ALERT.operations, readInService: READ_IN_SERVICE },
  remoteId: ({ spec }) => spec.id ?? '',
  expected: ({ spec }) => spec.expect ?? {},
  written: WRITTEN_ALERT,
}
