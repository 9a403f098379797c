import type { CreateOnceKind, Operation, ReadOnlyKind } from '../../../definition.ts'
import { ruleError, type FieldFinding, type Path } from '../../../finding.ts'
import { HEX_FORM } from '../../../id-form.ts'
import type { KnownStates } from '../../../state.ts'
import { ALERT as DEFAULT_ALERT, alertRules } from '../../default/alert/kind.ts'
import { brokenRules, only, when, type FieldRule } from '../pipe/field-rules.ts'
import { repeatedIn } from '../pipe/table-mappings.ts'
import { ALERT_CHANGES, setIn } from './changes.ts'
import {
  ALERT_FIELDS,
  AlertManifest,
  RANGES,
  WATCHED_POLICY,
  WRITTEN_FIELDS,
  type Channel,
} from './schema.ts'

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
  reply: { state: 'text' },
} as const

/** Alerts can be created only in a service, and not in HyperDX. */
export const WRITTEN_ALERT: CreateOnceKind<AlertManifest> = {
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
}

function watchedRules({ spec, policy, ...rest }: AlertManifest): readonly FieldFinding[] {
  const { id = '', expect } = spec
  const beside = WRITTEN_FIELDS.filter((field) => Object.hasOwn(spec, field))
  const foreign = Object.keys(policy ?? {}).filter((field) => !WATCHED_POLICY.includes(field))
  const places = [...beside.map((field) => ['spec', field]), ...foreign.map((field) => ['policy', field])]
  return [
    ...alertRules({ ...rest, spec: { id, expect } }),
    ...places.map(([part = '', field = '']) =>
      ruleError('field-excluded', {
        path: [part, field],
        message: `\`${field}\` is for an alert that Pipewright creates. With \`id\`, an existing alert is only watched.`,
        hint: 'To watch the alert, write expected values under spec.expect. To create an alert, remove spec.id.',
      }),
    ),
  ]
}

const INTERVAL_MINUTES = {
  '30s': 0.5,
  '1m': 1,
  '5m': 5,
  '15m': 15,
  '30m': 30,
  '1h': 60,
  '6h': 360,
  '12h': 720,
  '1d': 1_440,
}

function writtenRules({ spec }: AlertManifest): readonly FieldFinding[] {
  if (spec.expect !== undefined || !WRITTEN_FIELDS.some((field) => Object.hasOwn(spec, field)))
    return [neither(spec.expect !== undefined)]
  const { channel, channels = [] } = spec
  return [
    ...serviceRules(spec),
    ...brokenRules(rulesOfSpec(spec), spec, ['spec']),
    ...(channel === undefined ? [] : channelRules(channel, ['spec', 'channel'])),
    ...channels.flatMap((each, index) => channelRules(each, ['spec', 'channels', index])),
    ...repeatedIn(channels.map(identityOf), (index) => ({
      path: ['spec', 'channels', index],
      what: `Channel ${index + 1} is the same as`,
      hint: 'Remove one of the two.',
    })),
    ...valueRules(spec),
  ]
}

function neither(hasExpectation: boolean): FieldFinding {
  const ways =
    'To watch an existing alert, add spec.id. To create an alert, write its fields under spec: service, name, source and others.'
  return ruleError('field-needed', {
    path: hasExpectation ? ['spec', 'expect'] : ['spec'],
    message: hasExpectation
      ? '`expect` is for a watched alert, and the `id` of that alert is missing.'
      : 'The manifest names no existing alert, and describes no new alert.',
    hint: hasExpectation ? `${ways} If you create an alert, remove spec.expect.` : ways,
  })
}

function serviceRules({ service }: AlertManifest['spec']): readonly FieldFinding[] {
  if (service !== undefined) return []
  return [
    ruleError('field-needed', {
      path: ['spec', 'service'],
      message: '"service" of spec is missing. Alerts can be created only in a service, and not in HyperDX.',
      hint: 'Add the name of a Service manifest. To watch an alert in HyperDX, write its id as spec.id.',
    }),
  ]
}

function rulesOfSpec(spec: AlertManifest['spec']) {
  const { source, thresholdType, scheduleStartAt, scheduleOffsetMinutes = 0 } = spec
  const isTile = source === 'tile'
  const origins = ['dashboardId', 'tileId', 'savedSearchId', 'groupBy']
  const isRange = thresholdType !== undefined && RANGES.includes(thresholdType)
  return [
    {
      needs: ['name', 'threshold', 'thresholdType', 'interval', spec.channels ? 'channels' : 'channel'],
      because: 'to create an alert',
    },
    when(spec.channels !== undefined, { excludes: ['channel'], because: 'beside channels' }),
    isTile
      ? only(['dashboardId', 'tileId'], origins, 'with source tile')
      : [
          { needs: ['savedSearchId'], because: `with source saved_search${source ? '' : ', the default'}` },
          { excludes: ['dashboardId', 'tileId'], because: 'with source saved_search' },
        ],
    isRange
      ? [{ needs: ['thresholdMax'], because: `with thresholdType ${thresholdType}` }]
      : [{ excludes: ['thresholdMax'], because: `without thresholdType ${RANGES.join(' or ')}` }],
    when(scheduleStartAt !== undefined && scheduleOffsetMinutes > 0, {
      excludes: ['scheduleOffsetMinutes'],
      because: 'beside scheduleStartAt',
    }),
  ] satisfies readonly (FieldRule | readonly FieldRule[])[]
}

function channelRules(channel: Channel, place: Path): readonly FieldFinding[] {
  const isEmail = channel.type === 'email'
  const ofWebhook = ['webhookId', 'webhookService', 'slackChannelId']
  const because = `for type ${channel.type}`
  const { emailRecipients = [] } = channel
  return [
    ...brokenRules(
      [
        { needs: [isEmail ? 'emailRecipients' : 'webhookId'], because },
        { excludes: isEmail ? ofWebhook : ['emailRecipients'], because },
      ],
      channel,
      place,
    ),
    ...repeatedIn(emailRecipients, (index) => ({
      path: [...place, 'emailRecipients', index],
      what: `Address ${index + 1} is the same as`,
      hint: 'Remove one of the two.',
    })),
  ]
}

function identityOf({ type, webhookId, emailRecipients = [] }: Channel): string {
  return JSON.stringify([type, webhookId?.toLowerCase(), emailRecipients.toSorted()])
}

function valueRules(spec: AlertManifest['spec']): readonly FieldFinding[] {
  const { threshold, thresholdMax, interval, scheduleOffsetMinutes: offset } = spec
  return [
    ...(threshold !== undefined && thresholdMax !== undefined && thresholdMax < threshold
      ? [
          ruleError('value-excluded', {
            path: ['spec', 'thresholdMax'],
            message: `"thresholdMax" of spec is below threshold, which is ${threshold}.`,
            hint: 'Write the lower bound as threshold, and the upper bound as thresholdMax.',
          }),
        ]
      : []),
    ...(interval !== undefined && offset !== undefined && offset >= INTERVAL_MINUTES[interval]
      ? [
          ruleError('value-excluded', {
            path: ['spec', 'scheduleOffsetMinutes'],
            message: `"scheduleOffsetMinutes" of spec is not less than the interval, ${interval}.`,
            hint:
              INTERVAL_MINUTES[interval] < 1
                ? 'Remove it.'
                : `Write less than ${INTERVAL_MINUTES[interval]}.`,
          }),
        ]
      : []),
  ]
}
