import { Flag, Text, z } from './zod.ts'
import { parseDuration } from '../lib/duration.ts'
import { parseKey } from './key.ts'

export const API_VERSION = 'pipewright/v1'

/** A name, safe in a key, a URL, a label and a file name. */
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
  'must be a Kubernetes label name, such as "team" or "example.com/team": at most 63 letters, digits, "-", "_" and ".", ' +
  'with a letter or digit first and last'

/** A label name as in Kubernetes. The pattern has no lookahead: Go's JSON Schema tools do not support it. */
const LabelKey = z
  .string()
  .regex(new RegExp(`^(?:${DNS_LABEL}(?:\\.${DNS_LABEL})*/)?${LABEL_NAME}$`), LABEL_KEY_WORDS)
  .refine((text) => text.indexOf('/') <= 253, LABEL_KEY_WORDS)
const LabelValue = z
  .string()
  .max(63)
  .regex(
    /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/,
    'must be a Kubernetes label value: letters, digits, "-", "_" and ".", with a letter or digit first and last; or empty',
  )

export const Metadata = z.strictObject({
  name: ResourceName.describe(
    'Name of the resource. Unique among all manifests of its kind in the directory.',
  ).meta({ examples: ['orders'] }),
  labels: z
    .record(LabelKey, LabelValue)
    .optional()
    .describe('Labels for filters, such as the team. Names and values have the form of Kubernetes labels.')
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
    'Time between two checks for drift, 1s to 24h. Default: `--interval`. With the default profile, a query endpoint is not checked, but applied again.',
  ),
  suspend: z
    .strictObject({
      reason: Text.max(500).describe('Why the resource is suspended. The status shows this text.'),
      until: z.iso
        .datetime({ offset: true })
        .describe('When the suspension ends: a timestamp such as 2027-01-31T00:00:00Z.'),
    })
    .optional()
    .describe('Until the given time, Pipewright does not create, change or delete the resource.'),
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
    'All values of `state` that count as healthy. Default: `--healthy-states`. Without both, Pipewright uses ' +
      'the documented states of the platform, or guesses: a name like `Failed` is not ready, a name like ' +
      '`Starting` is progressing, and any other state is ready.',
  )
  .meta({ examples: [['Running']] })

export const CreateOncePolicy = z.strictObject({
  ...commonPolicy,
  healthyStates: HealthyStates,
  onMissing: z
    .enum(['recreate', 'report'])
    .optional()
    .describe(
      'Reaction if repeated reads show that the pipe is missing: create it again, or report it. Default: `recreate`.',
    ),
  adopt: z
    .guid()
    .optional()
    .describe(
      'The id of an existing pipe to adopt. Pipewright then creates no pipe, and assumes that the existing pipe uses the mounted secrets.',
    ),
  retryCreate: z
    .guid()
    .optional()
    .describe(
      'The id of an intent with an unknown outcome. Setting it confirms that no resource was created, and allows a second create.',
    ),
  recreate: z
    .guid()
    .optional()
    .describe(
      'The id of the recorded pipe. Setting it confirms that this pipe is gone. If the platform does not find it ' +
        'either, Pipewright creates the pipe again without further proof.',
    ),
  renamedFrom: ResourceKey.optional().describe('The former key of this pipe.'),
  replaces: ResourceKeyOrId.optional().describe(
    'Confirms that this manifest is a new pipe, although a similar pipe exists. Give the key of the similar ' +
      'pipe. If it has no manifest and the service lists pipes, give its id.',
  ),
})

const OnDrift = z.enum(['report', 'correct']).optional()

const Ensure = z.enum(['present', 'absent']).optional()

const CONTESTED =
  'After two corrections of a field within an hour, the third correction waits an hour. Each further wait is twice as long, up to a day.'

const ChangeablePolicy = CreateOncePolicy.extend({
  onUnknown: z
    .enum(['ask', 'adopt'])
    .optional()
    .describe(
      'Reaction if the service has exactly one pipe of this name, it equals the manifest, and it has no other ' +
        'manifest: adopt this pipe, or ask. Default: `adopt`.',
    ),
  onEdit: z
    .enum(['apply', 'report'])
    .optional()
    .describe(
      'Reaction to an edit, to a changed secret, and to a secret that the pipe might not have yet: ' +
        'change the pipe, or report it. Default: `apply`.',
    ),
  onDrift: OnDrift.describe(
    `Reaction if the pipe was changed elsewhere: report the difference, or change the pipe back. ${CONTESTED} Default: \`report\`.`,
  ),
  paused: Flag.describe(
    'Whether the pipe is stopped: `true` keeps it stopped; `false` starts it whenever it is stopped. By default, ' +
      'Pipewright stops and starts the pipe only for changes that need a stop.',
  ),
})

export const DeletablePolicy = ChangeablePolicy.extend({
  ensure: Ensure.describe(
    'Whether the pipe should exist. `absent` deletes the recorded pipe after ten minutes, but only if the pipe has not changed since it was last in sync, and ' +
      'only a few pipes together. Remove the manifest afterwards: a removal alone deletes no pipe. Default: `present`.',
  ),
  onImmutable: z
    .enum(['report', 'replace'])
    .optional()
    .describe(
      'Reaction to an edit of a field that cannot change: report it, or delete the pipe after ten ' +
        'minutes and create it again, if Pipewright created it. Default: `report`.',
    ),
})

export const UpsertPolicy = z.strictObject(commonPolicy)

export const ReadableUpsertPolicy = UpsertPolicy.extend({
  interval: Interval.optional().describe(
    'Time between two checks for drift, 1s to 24h. Default: `--interval`.',
  ),
  onDrift: OnDrift.describe(
    `Reaction if the query endpoint was changed elsewhere or is gone: report it, or apply the manifest again. ${CONTESTED} Default: \`report\`.`,
  ),
  ensure: Ensure.describe(
    'Whether the query endpoint should exist. `absent` deletes it after ten minutes, if it was not changed elsewhere. Remove the manifest ' +
      'afterwards: a removal alone deletes no query endpoint. Default: `present`.',
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
    /** Name of the Service that the resource needs. Undefined if it needs none, as for a Service. */
    readonly service?: string | undefined
  }
}

export function serviceOf(manifest: ResourceManifest): string | undefined {
  return manifest.spec.service
}
