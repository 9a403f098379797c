import { ShownText, z } from './zod.ts'
import { parseDuration } from '../lib/duration.ts'
import { parseKey } from './key.ts'

export const API_VERSION = 'pipewright/v1'

/** A name that is safe in a key, a URL, a label and a file name. */
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

/**
 * As Kubernetes has them, so that they can be used in selectors, metrics and addresses as they are. Without a lookahead: tools in Go
 * read the JSON Schema, and know none.
 */
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

/** Who a manifest is about. */
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

/** What may stand in `policy` of every resource kind that is reconciled. */
const commonPolicy = {
  interval: Interval.optional().describe(
    'How often to look for drift, such as `10m`; for a query endpoint, how often to apply it again.',
  ),
  suspend: z
    .strictObject({
      reason: ShownText.max(500).describe('Why; shown to everyone who asks.'),
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
  .array(ShownText)
  .min(1)
  .max(50)
  .optional()
  .describe(
    'The values of `state` that are healthy, all of them. Without it `--healthy-states` says which are. Without that, a name that sounds bad ' +
      'is not ready, one that sounds like moving is progressing, and any other is ready, with the words that nobody judged it.',
  )
  .meta({ examples: [['Running']] })

/** Policy of what is created once. */
export const CreateOncePolicy = z.strictObject({
  ...commonPolicy,
  healthyStates: HealthyStates,
  onMissing: z
    .enum(['recreate', 'report'])
    .optional()
    .describe('What to do when the pipe is confirmed to be missing; `recreate` unless set.'),
  adopt: z
    .guid()
    .optional()
    .describe(
      'The id of a pipe that exists and is to be taken over instead of creating one. A secret that is mounted then counts as the one that the pipe has.',
    ),
  retryCreate: z
    .guid()
    .optional()
    .describe(
      'The id of the intent whose outcome is unknown and that a person found to have created nothing.',
    ),
  recreate: z
    .guid()
    .optional()
    .describe(
      'The id of the pipe of this key that a person found to be gone: it is replaced without further proof, once it is not found.',
    ),
  renamedFrom: ResourceKey.optional().describe('The key under which the same pipe was recorded before.'),
  replaces: ResourceKey.optional().describe(
    'The key of a pipe that looks like this one, such as an orphan; this is a new pipe all the same. Excuses that one key.',
  ),
})

const CONTESTED =
  'The third correction of a field within an hour waits an hour; each further wait is twice as long, up to a day.'

/** Policy of what is created once where the service lists, changes and stops it, too. */
export const ChangeablePolicy = CreateOncePolicy.extend({
  onUnknown: z
    .enum(['ask', 'adopt'])
    .optional()
    .describe(
      'What to do when exactly one pipe of the service has this name and nothing of it differs, and no manifest holds it: adopt it, or ask. ' +
        '`adopt` unless set.',
    ),
  onEdit: z
    .enum(['apply', 'report'])
    .optional()
    .describe(
      'What to do when the manifest was edited, or the value of a secret is another one or not verified: change the pipe, or report it. `apply` unless set.',
    ),
  onDrift: z
    .enum(['report', 'correct'])
    .optional()
    .describe(
      `What to do when the pipe was changed elsewhere: report it, or change it back. ${CONTESTED} \`report\` unless set.`,
    ),
  paused: z
    .boolean()
    .optional()
    .describe(
      'Whether the pipe is to be stopped: `true` stops it, and keeps it so; `false` starts it whenever it is stopped. Unless set, it is neither ' +
        'started nor stopped, but for a change that needs it.',
    ),
})

/** Policy of what is created once where the service deletes it, too. */
export const DeletablePolicy = ChangeablePolicy.extend({
  ensure: z
    .enum(['present', 'absent'])
    .optional()
    .describe(
      'Whether there is to be a pipe. `absent` deletes the recorded pipe after ten minutes, if it is as it was when it was last in sync and ' +
        'few pipes are to be deleted together. Remove the manifest afterwards; a removed manifest deletes nothing. Default: `present`.',
    ),
  onImmutable: z
    .enum(['report', 'replace'])
    .optional()
    .describe(
      'What to do when a field was edited that cannot be changed in a pipe that exists: report it, or delete the pipe after ten minutes and ' +
        'create it again, as under `ensure: absent`, if it was created from here. `report` unless set.',
    ),
})

/** Policy of what is upserted. It has no `state`, and so no `healthyStates`. */
export const UpsertPolicy = z.strictObject(commonPolicy)

/** Policy of what is upserted where the service lets one read and delete it, too. */
export const ReadableUpsertPolicy = UpsertPolicy.extend({
  interval: Interval.optional().describe('How often to look for drift, such as `10m`.'),
  onDrift: z
    .enum(['report', 'correct'])
    .optional()
    .describe(
      `What to do when it was changed elsewhere, or is gone: report it, or apply the manifest again. ${CONTESTED} \`report\` unless set.`,
    ),
  ensure: z
    .enum(['present', 'absent'])
    .optional()
    .describe(
      'Whether there is to be one. `absent` deletes what was applied after ten minutes, if it was not changed elsewhere. Remove the manifest ' +
        'afterwards; a removed manifest deletes nothing. Default: `present`.',
    ),
})

/** The policy of any kind. */
export type Policy = z.infer<typeof DeletablePolicy> & z.infer<typeof ReadableUpsertPolicy>

/** Policy of what is only looked at. */
export const ReadOnlyPolicy = z.strictObject({ ...commonPolicy, healthyStates: HealthyStates })

/** A valid manifest of any kind that is a resource; what only one kind has is known in its folder. */
export interface ResourceManifest {
  readonly apiVersion: typeof API_VERSION
  readonly kind: string
  readonly metadata: Metadata
  readonly policy?: Policy | undefined
  readonly spec: Readonly<Record<string, unknown>> & {
    /** The name of the Service whose credentials it uses; undefined for what needs none, or is one. */
    readonly service?: string | undefined
  }
}

/** The name of the Service whose credentials a manifest uses; undefined for what needs none, or is one. */
export function serviceOf(manifest: ResourceManifest): string | undefined {
  return manifest.spec.service
}
