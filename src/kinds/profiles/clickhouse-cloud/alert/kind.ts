import type { CreateOnceKind, Operation, ReadOnlyKind } from '../../../definition.ts'
import { HEX_FORM } from '../../../id-form.ts'
import type { KnownStates } from '../../../state.ts'
import { ALERT as DEFAULT_ALERT } from '../../default/alert/kind.ts'
import { ALERT_CHANGES, setIn } from './changes.ts'
import { watchedRules, writtenRules } from './rules.ts'
import { ALERT_FIELDS, AlertManifest } from './schema.ts'

const ALERTS = '/v1/organizations/{organizationId}/services/{serviceId}/clickstack/alerts'

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
  permission: 'manage-clickstack-api',
  path: `${ALERTS}/{id}`,
}

const COMMON = {
  name: DEFAULT_ALERT.name,
  noun: DEFAULT_ALERT.noun,
  description: 'An existing alert that is only watched, or an alert that is created in a service.',
  schema: AlertManifest,
  fields: ALERT_FIELDS,
  states: () => STATES,
  reply: DEFAULT_ALERT.reply,
} as const

/** Alerts can be created only in a service, and not in HyperDX. */
const WRITTEN_ALERT: CreateOnceKind<AlertManifest> = {
  ...COMMON,
  lifecycle: 'create-once',
  rules: writtenRules,
  idForm: HEX_FORM,
  firstState: 'INSUFFICIENT_DATA',
  changes: ALERT_CHANGES,
  operations: {
    create: { ...READ_IN_SERVICE, name: 'createAlert', does: 'create', method: 'POST', path: ALERTS },
    read: READ_IN_SERVICE,
    list: { ...READ_IN_SERVICE, name: 'listAlerts', noun: 'alerts', lists: true, most: 1_000, path: ALERTS },
    update: { ...READ_IN_SERVICE, name: 'updateAlert', does: 'update', method: 'PUT' },
    delete: { ...READ_IN_SERVICE, name: 'deleteAlert', does: 'delete', method: 'DELETE' },
  },
  setIn,
  body({ spec }) {
    const { service: _, id: __, expect: ___, ...body } = spec
    return body
  },
}

export const ALERT: ReadOnlyKind<AlertManifest> = {
  ...DEFAULT_ALERT,
  ...COMMON,
  rules: watchedRules,
  operations: { ...DEFAULT_ALERT.operations, readInService: READ_IN_SERVICE },
  remoteId: ({ spec }) => spec.id ?? '',
  expected: ({ spec }) => spec.expect ?? {},
  written: WRITTEN_ALERT,
}
