import { isAbsolute, join } from 'node:path'
import { LineCounter, parseDocument, type Document } from 'yaml'
import { z } from '../kinds/zod.ts'
import { RESOURCE_KINDS } from '../kinds/lookup.ts'
import { SecretRef } from '../kinds/secret-ref.ts'
import { offsetOf } from '../lib/yaml-offset.ts'
import { SEVERITIES } from '../plan/severity.ts'
import type { SettingProblem } from './setting-problem.ts'
import { problemsOfIssues, notificationProblem, placeOf } from './notification-problems.ts'
import { type Parser, duration, parseBudget } from './parsers.ts'

/** Targets are label values of metrics, so that they are few. */
const MOST_TARGETS = 20

const SECOND = 1_000
const HOUR = 3_600 * SECOND

/** A text that goes through the parser of a setting. */
function parsed<T>(parser: Parser<T>) {
  return z.string().transform((text, context): T => {
    const result = parser(text)
    if (result.ok) return result.value
    context.issues.push({ code: 'custom', input: text, message: `${result.why}; ${result.right}` })
    return z.NEVER
  })
}

/** Where an address or a key stands: a mounted secret, or a file. Never itself: addresses of Slack are secrets. */
const Reference = z.union([
  SecretRef,
  z.strictObject({
    file: z
      .string()
      .refine(
        (path) => isAbsolute(path) && !path.includes('\0'),
        'it is not absolute; give a path from the root, such as /run/secrets/slack-url',
      ),
  }),
])
type Reference = z.infer<typeof Reference>

const common = {
  name: z
    .string()
    .regex(
      /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/,
      'it is no plain name; give lower-case letters, digits and "-"',
    ),
  url: Reference,
  filter: z
    .strictObject({
      kinds: z.array(z.enum(RESOURCE_KINDS)).min(1, 'it is empty; name a kind or remove it').default([]),
      names: z.array(z.string().min(1).max(253)).min(1, 'it is empty; name a glob or remove it').default([]),
      labels: z.record(z.string().min(1).max(63), z.string().max(63)).default({}),
      severity: z.enum(SEVERITIES).default('info'),
    })
    .prefault({}),
  groupWait: parsed(duration(0, HOUR)).prefault('10s'),
  flapWindow: parsed(duration(0, 24 * HOUR)).prefault('10m'),
  rateLimit: parsed(parseBudget).prefault('10/1m'),
}

const Target = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('webhook'), ...common, signingKey: Reference.optional() }),
  z.strictObject({ type: z.literal('slack'), ...common }),
])

const NotificationsFile = z.strictObject({
  targets: z.array(Target).max(MOST_TARGETS, `there are more than ${MOST_TARGETS}; remove some`),
})

/** A file that holds an address or a key, and where it is named. */
export interface FileReference {
  readonly path: string
  /** `notifications.yaml:3:10`. */
  readonly from: string
}

/** Somebody to be notified; durations are in milliseconds. */
export interface NotificationTarget {
  readonly name: string
  readonly type: 'webhook' | 'slack'
  readonly url: FileReference
  /** Only of a webhook; without one it is not signed. */
  readonly signingKey: FileReference | undefined
  readonly filter: z.infer<typeof Target>['filter']
  readonly groupWaitMs: number
  readonly flapWindowMs: number
  readonly rateLimit: { readonly requests: number; readonly windowMs: number }
}

export type NotificationsReading =
  | { readonly targets: readonly NotificationTarget[]; readonly problems: readonly [] }
  | { readonly targets: undefined; readonly problems: readonly SettingProblem[] }

/**
 * The targets of a YAML file.
 * @param file its name, for the messages
 * @param credentialsDir where the secrets are that it names: those of sources are not for it
 * @returns all that is wrong at once, if anything is; nothing of the content is shown that may be an address or a key
 */
export function parseNotifications(
  file: string,
  content: string,
  credentialsDir: string,
): NotificationsReading {
  const lines = new LineCounter()
  const doc = parseDocument(content, { lineCounter: lines, prettyErrors: false, stringKeys: true })
  const at = (offset: number) => placeOf(file, lines.linePos(offset))
  const yamlErrors = [...doc.errors, ...doc.warnings]
  if (yamlErrors.length > 0) {
    // the words of the parser quote the text
    return failed(
      yamlErrors.map((error) =>
        notificationProblem(at(error.pos[0]), `it is not YAML (${error.code})`, 'correct it'),
      ),
    )
  }
  const value = valueOf(doc)
  if (value === undefined)
    return failed([
      notificationProblem(`${file}:1:1`, 'its aliases cannot be resolved', 'write it without them'),
    ])
  const result = NotificationsFile.safeParse(value, { reportInput: true })
  if (!result.success) return failed(problemsOfIssues(result.error.issues, { doc, at }))
  const { targets } = result.data
  const repeated = targets.flatMap(({ name }, index) => {
    if (targets.findIndex((other) => other.name === name) === index) return []
    const place = at(offsetOf(doc, ['targets', index, 'name']))
    return [
      {
        ...notificationProblem(place, 'another target has this name', 'give each a name of its own'),
        given: name,
      },
    ]
  })
  if (repeated.length > 0) return failed(repeated)
  const referenceOf = (reference: Reference, path: readonly (string | number)[]): FileReference => ({
    path: pathOf(reference, credentialsDir),
    from: at(offsetOf(doc, path)),
  })
  return {
    problems: [],
    targets: targets.map((target, index): NotificationTarget => {
      const signingKey = target.type === 'webhook' ? target.signingKey : undefined
      return {
        name: target.name,
        type: target.type,
        url: referenceOf(target.url, ['targets', index, 'url']),
        signingKey: signingKey && referenceOf(signingKey, ['targets', index, 'signingKey']),
        filter: target.filter,
        groupWaitMs: target.groupWait,
        flapWindowMs: target.flapWindow,
        rateLimit: target.rateLimit,
      }
    }),
  }
}

function pathOf(reference: Reference, credentialsDir: string): string {
  if ('file' in reference) return reference.file
  return join(credentialsDir, reference.secretRef.name, reference.secretRef.key)
}

function failed(problems: readonly SettingProblem[]): NotificationsReading {
  return { targets: undefined, problems }
}

function valueOf(doc: Document): unknown {
  try {
    return doc.toJS({ maxAliasCount: 100 })
  } catch {
    return undefined
  }
}
