import { ruleError, type RuleFinding } from '../../../finding.ts'
import { alertRules } from '../../default/alert/kind.ts'
import { brokenRules, only, when, type FieldRule } from '../pipe/field-rules.ts'
import { RANGES, WATCHED_POLICY, WRITTEN_FIELDS, type AlertManifest } from './schema.ts'

/** What must hold within one manifest of an alert that is watched, beyond its shape. */
export function watchedRules({ spec, policy, ...rest }: AlertManifest): readonly RuleFinding[] {
  const { id = '', expect } = spec
  const beside = WRITTEN_FIELDS.filter((field) => Object.hasOwn(spec, field))
  const foreign = Object.keys(policy ?? {}).filter((field) => !WATCHED_POLICY.includes(field))
  return [
    ...alertRules({ ...rest, spec: { id, expect } }),
    ...beside.map((field) =>
      ruleError('field-excluded', {
        path: ['spec', field],
        message: `\`${field}\` is for an alert that is created, and \`id\` names one that exists and is only watched.`,
        hint: `To watch it, write what it should say under spec.expect. To have an alert created, remove spec.id.`,
      }),
    ),
    ...foreign.map((field) =>
      ruleError('field-excluded', {
        path: ['policy', field],
        message: `\`${field}\` is for an alert that is created, and this one is only watched.`,
        hint: 'Remove it. To have an alert created, remove spec.id and write its fields under spec.',
      }),
    ),
  ]
}

/** Minutes. */
const INTERVALS = { '1m': 1, '5m': 5, '15m': 15, '30m': 30, '1h': 60, '6h': 360, '12h': 720, '1d': 1_440 }

/** What must hold within one manifest of an alert that is created (facts 4.13 and R43). */
export function writtenRules({ spec }: AlertManifest): readonly RuleFinding[] {
  if (spec.expect !== undefined || !WRITTEN_FIELDS.some((field) => Object.hasOwn(spec, field)))
    return [neither(spec.expect !== undefined)]
  const { channel } = spec
  return [
    ...serviceRules(spec),
    ...brokenRules(rulesOfSpec(spec), spec, ['spec']),
    ...(channel === undefined ? [] : brokenRules(rulesOfChannel(channel), channel, ['spec', 'channel'])),
    ...valueRules(spec),
  ]
}

function neither(hasExpectation: boolean): RuleFinding {
  const ways =
    'To watch an alert that exists, add spec.id. To have one created, write its fields under spec: service, name, source and the others.'
  return ruleError('field-needed', {
    path: hasExpectation ? ['spec', 'expect'] : ['spec'],
    message: hasExpectation
      ? '`expect` is for an alert that is watched, and no `id` says which one that is.'
      : 'It does not say which alert it is about: one that exists, or one that is to be created.',
    hint: hasExpectation ? `${ways} One that is created has no spec.expect.` : ways,
  })
}

function serviceRules({ service }: AlertManifest['spec']): readonly RuleFinding[] {
  if (service !== undefined) return []
  return [
    ruleError('field-needed', {
      path: ['spec', 'service'],
      message: '"service" of spec is missing: alerts are created in a service only, and not in HyperDX.',
      hint: 'Add the name of its Service manifest. An alert in HyperDX can be watched: give its spec.id.',
    }),
  ]
}

/** R43. What is not of its source never comes back. */
function rulesOfSpec(spec: AlertManifest['spec']) {
  const { source, thresholdType, scheduleStartAt, scheduleOffsetMinutes = 0 } = spec
  const isTile = source === 'tile'
  const origins = ['dashboardId', 'tileId', 'savedSearchId', 'groupBy']
  const isRange = thresholdType !== undefined && RANGES.includes(thresholdType)
  return [
    {
      needs: ['name', 'threshold', 'thresholdType', 'interval', 'channel'],
      because: 'to create an alert',
    },
    isTile
      ? only(['dashboardId', 'tileId'], origins, 'with source tile')
      : [
          {
            needs: ['savedSearchId'],
            because: `with source saved_search${source ? '' : ', which it is unless set'}`,
          },
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

function rulesOfChannel({ type }: NonNullable<AlertManifest['spec']['channel']>) {
  const isEmail = type === 'email'
  const ofWebhook = ['webhookId', 'webhookService', 'slackChannelId']
  const because = `for type ${type}`
  return [
    { needs: [isEmail ? 'emailRecipients' : 'webhookId'], because },
    { excludes: isEmail ? ofWebhook : ['emailRecipients'], because },
  ] satisfies readonly FieldRule[]
}

function valueRules(spec: AlertManifest['spec']): readonly RuleFinding[] {
  const { threshold, thresholdMax, interval, scheduleOffsetMinutes: offset } = spec
  const recipients = spec.channel?.emailRecipients ?? []
  return [
    ...(threshold !== undefined && thresholdMax !== undefined && thresholdMax < threshold
      ? [
          ruleError('value-excluded', {
            path: ['spec', 'thresholdMax'],
            message: `"thresholdMax" of spec is below threshold, which is ${threshold}.`,
            hint: 'Write the lower bound as threshold, and the upper one as thresholdMax.',
          }),
        ]
      : []),
    ...(interval !== undefined && offset !== undefined && offset >= INTERVALS[interval]
      ? [
          ruleError('value-excluded', {
            path: ['spec', 'scheduleOffsetMinutes'],
            message: `"scheduleOffsetMinutes" of spec is not less than the interval, ${interval}.`,
            hint: `Write less than ${INTERVALS[interval]}.`,
          }),
        ]
      : []),
    ...recipients.flatMap((address, index) =>
      recipients.indexOf(address) === index
        ? []
        : [
            ruleError('item-repeated', {
              path: ['spec', 'channel', 'emailRecipients', index],
              message: 'An address is listed twice.',
              hint: 'Remove one of them.',
            }),
          ],
    ),
  ]
}
