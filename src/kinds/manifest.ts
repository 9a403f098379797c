import { Flag, Text, z } from './zod.ts'
import { parseDuration } from '../lib/duration.ts'
import { parseKey } from './key.ts'

export const API_VERSION = 'pipewright/v1'

/** Safe in a key, a URL, a label and a file name. */
export const ResourceName = z
  .string()
  .regex(
    /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/,
    'must be lower-case letters, digits, "-" and ".", and begin and end with a letter or digit',
  )
  .max(253)

const LABEL_NAME = '[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?'
const DNS_LABEL = '[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?'

const LABEL_KEY_WORDS =
  'must be one as Kubernetes has it, such as "team" or "example.com/team": at most 63 letters, digits, "-", "_" and ".", ' +
  'with a letter or digit first and last'

/** As in Kubernetes, for use in selectors and metrics. No lookahead: Go's JSON Schema tools lack it. */
const LabelKey = z
  .string()
  .regex(new RegExp(`^(?:${DNS_LABEL}(?:\\.${DNS_LABEL})*/)?${LABEL_NAME}$`), LABEL_KEY_WORDS)
  .refine((text) => text.indexOf('/') <= 253, LABEL_KEY_WORDS)
const LabelValue = z
  .string()
  .max(63)
  .regex(
    /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/,
    'must be one as Kubernetes has it: letters, digits, "-", "_" and ".", with a letter or digit first and last; or empty',
  )

export const Metadata = z.strictObject({
  name: ResourceName.describe('Unique per kind over the whole directory.').meta({ examples: ['orders'] }),
  labels: z
    .record(LabelKey, LabelValue)
    .optional()
    .describe('Free labels, such as the team, for filters; keys and values as Kubernetes has them.')
    .meta({ examples: [{ team: 'payments' }] }),
})
export type Metadata = z.infer<typeof Metadata>

const MIN_INTERVAL_MS = 1_000
const MAX_INTERVAL_MS = 24 * 3_600_000

const Interval = z
  .string()
  .refine((text) => {
    const ms = parseDuration(text) ?? 0
    return ms >= MIN_INTERVAL_MS && ms <= MAX_INTERVAL_MS
  }, 'must be a duration from 1s to 24h, such as "10m" or "1h30m"')
  .meta({ examples: ['10m'] })

const ResourceKey = z
  .string()
  .refine((text) => parseKey(text) !== undefined, 'must be Kind/name, such as "Pipe/orders"')
  .meta({ examples: ['Pipe/orders'] })

/** An id of any kind: a UUID or 24 hexadecimal digits. */
const ID = /^[\da-f-]{24,36}$/i

const ResourceKeyOrId = z
  .string()
  .refine(
    (text) => parseKey(text) !== undefined || ID.test(text),
    'must be Kind/name, such as "Pipe/orders", or an id',
  )
  .meta({ examples: ['Pipe/orders'] })

const commonPolicy = {
  interval: Interval.optional().describe(
    'How often to look for drift, such as `10m`; for a query endpoint, how often to apply it again.',
  ),
  suspend: z
    .strictObject({
      reason: Text.max(500).describe('Why; shown to everyone who asks.'),
      until: z.iso
        .datetime({ offset: true })
        .describe('When it ends by itself: a timestamp such as 2027-01-31T00:00:00Z.'),
    })
    .optional()
    .describe('Leave the resource alone, with a reason and an end.'),
  dependsOn: z
    .array(ResourceKey)
    .max(50)
    .optional()
    .describe('Keys of resources that must be ready before this one is created.'),
}

const HealthyStates = z
  .array(Text)
  .min(1)
  .max(50)
  .optional()
  .describe(
    'All healthy values of `state`. Default: `--healthy-states`. Without both, a name that suggests a ' +
      'failure is not ready, a state that suggests a change is progressing, and any other state is ready but not ' +
      'judged.',
  )
  .meta({ examples: [['Running']] })

export const CreateOncePolicy = z.strictObject({
  ...commonPolicy,
  healthyStates: HealthyStates,
  onMissing: z
    .enum(['recreate', 'report'])
    .optional()
    .describe('Reaction if the pipe is confirmed to be missing. Default: `recreate`.'),
  adopt: z
    .guid()
    .optional()
    .describe(
      "The id of an existing pipe to adopt instead of a create. A mounted secret then counts as the pipe's.",
    ),
  retryCreate: z
    .guid()
    .optional()
    .describe('The id of an intent whose outcome was unknown. A person found that it created no resource.'),
  recreate: z
    .guid()
    .optional()
    .describe(
      'The id of the pipe of this key that a person found to be gone. If it is not found, it is replaced ' +
        'without further proof.',
    ),
  renamedFrom: ResourceKey.optional().describe('The former key of this pipe.'),
  replaces: ResourceKeyOrId.optional().describe(
    'The key of a similar pipe, such as an orphan. With a service that lists pipes, also the id of a pipe ' +
      'without a manifest. This manifest is a new pipe nevertheless.',
  ),
})

const OnDrift = z.enum(['report', 'correct']).optional()

const Ensure = z.enum(['present', 'absent']).optional()

const CONTESTED =
  'After two corrections of a field within an hour, the third waits an hour. Each further wait is twice as long, up to a day.'

/** For kinds that the service lists, changes and stops. */
const ChangeablePolicy = CreateOncePolicy.extend({
  onUnknown: z
    .enum(['ask', 'adopt'])
    .optional()
    .describe(
      'Reaction if the service has a single pipe of this name, without differences and without a ' +
        'manifest: adopt it, or ask. Default: `adopt`.',
    ),
  onEdit: z
    .enum(['apply', 'report'])
    .optional()
    .describe(
      'Reaction to an edit, or to a secret that has changed or is not verified: change the pipe, or report ' +
        'it. Default: `apply`.',
    ),
  onDrift: OnDrift.describe(
    `Reaction if the pipe was changed elsewhere: report it, or change it back. ${CONTESTED} Default: \`report\`.`,
  ),
  paused: Flag.describe(
    'Whether the pipe is stopped: `true` keeps it stopped; `false` starts it whenever it is stopped. By default, ' +
      'it is only stopped and started for a change that needs it.',
  ),
})

export const DeletablePolicy = ChangeablePolicy.extend({
  ensure: Ensure.describe(
    'Whether the pipe should exist. `absent` deletes the recorded pipe after ten minutes, if it is as it was when it was last in sync and ' +
      'few pipes are deleted together. Remove the manifest afterwards. Removing a manifest deletes no pipe. Default: `present`.',
  ),
  onImmutable: z
    .enum(['report', 'replace'])
    .optional()
    .describe(
      'Reaction to an edit of a field that cannot change: report it, or delete the pipe after ten ' +
        'minutes and create it again, if Pipewright created it. Default: `report`.',
    ),
})

/** For upsert kinds, which have no state. */
export const UpsertPolicy = z.strictObject(commonPolicy)

/** For upsert kinds that the service reads and deletes. */
export const ReadableUpsertPolicy = UpsertPolicy.extend({
  interval: Interval.optional().describe('How often to look for drift, such as `10m`.'),
  onDrift: OnDrift.describe(
    `Reaction if it was changed elsewhere, or is gone: report it, or apply the manifest again. ${CONTESTED} Default: \`report\`.`,
  ),
  ensure: Ensure.describe(
    'Whether the query endpoint should exist. `absent` deletes it after ten minutes, if it was not changed elsewhere. Remove the manifest ' +
      'afterwards. Removing a manifest deletes no query endpoint. Default: `present`.',
  ),
})

export type Policy = z.infer<typeof DeletablePolicy> & z.infer<typeof ReadableUpsertPolicy>

export const ReadOnlyPolicy = z.strictObject({ ...commonPolicy, healthyStates: HealthyStates })

export function manifestSchema<K extends string, P extends z.ZodType, S extends z.ZodType>(
  kind: K,
  policy: P,
  spec: S,
) {
  return z.strictObject({
    apiVersion: z.literal(API_VERSION),
    kind: z.literal(kind),
    metadata: Metadata,
    policy: policy.optional(),
    spec,
  })
}

export interface ResourceManifest {
  readonly apiVersion: typeof API_VERSION
  readonly kind: string
  readonly metadata: Metadata
  readonly policy?: Policy | undefined
  readonly spec: Readonly<Record<string, unknown>> & {
    /** Undefined: the resource needs no Service, or is one. */
    readonly service?: string | undefined
  }
}

export function serviceOf(manifest: ResourceManifest): string | undefined {
  return manifest.spec.service
}
