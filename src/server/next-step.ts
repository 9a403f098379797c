import type { Finding } from '../kinds/finding.ts'
import { kindOf, parseKey, type Key } from '../kinds/key.ts'
import type { Reason } from '../plan/reason.ts'
import { bodyIn, type ResourceStatus } from '../reconcile/status.ts'

/** One thing to do, in a sentence, with what to copy for it. */
export interface NextStep {
  readonly text: string
  /** A command, a line of a manifest, an id or a place in a file. */
  readonly copy: string | undefined
}

/** What the words of a step depend on, beside the resource. */
export interface StepContext {
  readonly sandbox: boolean
  readonly manifestsDir: string
}

interface Stuck {
  readonly resource: ResourceStatus
  /** `manifests/payments/orders.yaml:3`, or in words when that is not known. */
  readonly place: string
  readonly service: string
  /** A command line of Pipewright, as it is typed here. */
  readonly command: (args: string) => string
}

/**
 * What a person does about a resource that is not well; empty when there is nothing to do.
 * @param findings those of its manifest: the first says where to begin
 */
export function nextSteps(
  resource: ResourceStatus,
  context: StepContext,
  findings: readonly Pick<Finding, 'file' | 'line'>[],
): readonly NextStep[] {
  const { file, line, service } = resource
  const stuck: Stuck = {
    resource,
    place: file === undefined ? 'its manifest' : placeOf(context.manifestsDir, file, line),
    service: service === undefined ? 'its service' : `service ${service}`,
    command: (args) => commandLine(args, context),
  }
  if (resource.conditions.Valid.status === 'False') {
    const [first] = findings
    const place = first === undefined ? stuck.place : placeOf(context.manifestsDir, first.file, first.line)
    const check = stuck.command(`validate ${shellWord(context.manifestsDir)}`)
    return [
      step('Correct it; Pipewright reads it again by itself:', place),
      step('To check before:', check),
      ...(resource.status === 'OutcomeUnknown' ? STEPS.OutcomeUnknown(stuck) : []),
    ]
  }
  return STEPS[resource.reason](stuck)
}

/** A command line of Pipewright, as it is typed here. */
export function commandLine(args: string, { sandbox }: Pick<StepContext, 'sandbox'>): string {
  return sandbox ? `npm run pipewright -- ${args} --sandbox` : `pipewright ${args}`
}

/** `dir/file:line`, as editors and terminals open it. */
export function placeOf(dir: string, file: string, line: number | undefined): string {
  const path = dir === '' || dir === '.' ? file : `${dir.replace(/\/$/, '')}/${file}`
  return line === undefined ? path : `${path}:${line}`
}

/** A text that ends with a colon announces what to copy. What cannot be seen as a whole is not copied. */
function step(text: string, copy?: string): NextStep {
  if (copy !== undefined && !/[\p{Cc}\p{Cf}]/u.test(copy)) return { text, copy }
  return { text: text.replace(/:$/, '.'), copy: undefined }
}

function withId(text: string, id: string | undefined): NextStep {
  return id === undefined ? step(text) : step(`${text} Its id:`, id)
}

/** A name from elsewhere as one word of a command line. */
function shellWord(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}

type Steps = (stuck: Stuck) => readonly NextStep[]

function nothing(): readonly NextStep[] {
  return []
}

/** Something else has to be put right first; this one goes on by itself then. */
function edit(text: string): Steps {
  return ({ place }) => [step(`${text}:`, place)]
}

/** Every reason: none is forgotten, because it would not compile. */
const STEPS: Readonly<Record<Reason, Steps>> = {
  OutcomeUnknown: ({ resource, command, service }) => {
    const intentId = /\bintent ([0-9a-f-]{36})\b/.exec(resource.message)?.[1]
    const from = /\bnot there after (\S+Z)/.exec(resource.message)?.[1]
    const inGit =
      intentId === undefined
        ? []
        : [step('The same from Git, and no earlier:', `policy: {retryCreate: ${intentId}}`)]
    return [
      step(
        `Nothing is sent until you say what happened: a second try could make a second pipe. Look in the console of ${service}. If the pipe is there, take it over with its id:`,
        command(`resolve ${resource.key} --adopt PIPE_ID`),
      ),
      step(
        `If it is not there${from === undefined ? '' : ` after ${from}`}, have it created again:`,
        command(`resolve ${resource.key} --retry`),
      ),
      ...inGit,
    ]
  },
  Drifted: drifted,
  NotUpdatable: ({ resource, place }) => [
    step(
      'The interface cannot update a pipe. Make the same change in the console, to this pipe:',
      resource.pipeId,
    ),
    step('Or take the edit back:', place),
  ],
  SecretRotated: ({ resource }) => [
    step(
      'The interface cannot update a pipe. Give the new secret to this pipe in the console:',
      resource.pipeId,
    ),
  ],
  Stalled: edit('Ask for what the platform accepts'),
  Missing: ({ resource, command, place }) => [
    step('If it is to exist, have it created again; in its manifest:', 'policy: {onMissing: recreate}'),
    step(
      `If it was deleted on purpose, remove it from ${place}, and then:`,
      command(`forget ${resource.key}`),
    ),
  ],
  MassMissing: ({ service, command, resource }) => [
    step(
      `Many pipes at once are a lost permission or a wrong id. Check what the API key of ${service} may read, and organizationId and serviceId of its manifest; then look again:`,
      command(`status Service/${shellWord(resource.service ?? '')}`),
    ),
  ],
  UnhealthyState: ({ resource }) => {
    const id = resource.pipeId ?? textIn(bodyIn(resource.observed)?.['id'])
    return kindOf(resource.key) === 'Alert'
      ? [withId('The alert itself fires: look at what it watches. It is well again by itself.', id)]
      : [withId('Look in the console why the pipe is in this state.', id)]
  },
  Orphaned: ({ resource, command, place }) => [
    step('If it is still wanted, bring its manifest back, which was in:', place),
    step('If not, remove it in the console, and then:', command(`forget ${resource.key}`)),
  ],
  Rejected: ({ resource, place, command }) => [
    step(
      'Read what the platform answered, and correct the manifest. It is tried again when it changes:',
      place,
    ),
    step('To see what is asked for:', command(`status ${resource.key}`)),
  ],
  AuthFailed: ({ resource, command, service }) => [
    step(
      `Put working credentials for ${service} into the mounted secret that is named above; they are tried as soon as they change. Then look:`,
      command(resource.service === undefined ? 'status' : `status Service/${shellWord(resource.service)}`),
    ),
  ],
  SecretUnavailable: ({ resource, place }) => [
    ...missingSecrets(resource).map((path) => step('Mount the secret; it goes on by itself then:', path)),
    step('Or correct the secretRef:', place),
  ],
  NeverSeen: ({ resource, command, service }) => [
    withId(`Look in the console of ${service} for the pipe.`, resource.pipeId),
    step('If it is gone, have a new one created:', command(`resolve ${resource.key} --recreate`)),
    step('If it is there under another id:', 'policy: {adopt: PIPE_ID}'),
  ],
  ReplacedRecently: ({ resource, command, service }) => [
    step(
      `Find out what removes the pipe: look in the console of ${service}. It is created again by itself later.`,
    ),
    step('To have it created now:', command(`resolve ${resource.key} --recreate`)),
  ],
  OutcomeUnsaved: ({ resource, command }) => [
    step(
      'Make room on the volume of the ledger, or repair it. Do not restart Pipewright before: it knows more than the ledger.',
    ),
    ...(resource.pipeId === undefined
      ? []
      : [
          step(
            'If it was restarted all the same:',
            command(`resolve ${resource.key} --adopt ${resource.pipeId}`),
          ),
        ]),
  ],
  ServiceIdle: ({ service, command }) => [
    step(
      `Wake ${service} in the console, if its pipes are to run. It is asked again by itself; then see:`,
      command('status'),
    ),
  ],
  RateLimited: ({ command }) => [
    step('Nothing: it goes on by itself. If it lasts, lower --api-budget, or see:', command('status')),
  ],
  Unavailable: ({ resource, command }) => [
    step(
      'It is tried again by itself. If it lasts, check the network, --base-url and the platform; then see:',
      command(`status ${resource.key}`),
    ),
  ],
  LedgerFailed: ({ command }) => [
    step(
      'Make room on the volume of the ledger, or repair it. Nothing is created until then:',
      command('status'),
    ),
  ],
  RenameSuspected: ({ resource }) => kin(resource, 'If it is the same pipe:', 'renamedFrom'),
  NameTaken: ({ resource, place }) => [
    step('If it is a copy, give it a spec of its own:', place),
    ...kin(resource, undefined, undefined),
  ],
  RenameWaiting: ({ resource }) => {
    const other = otherKeyIn(resource)
    return [step('Remove the manifest of the old name; the pipe is kept and moves by itself then:', other)]
  },
  CreateBrake: ({ command }) => [
    step(
      'If so many creations are right, stop the daemon, which holds the ledger, and let them pass once:',
      command('apply --yes'),
    ),
  ],
  DependencyNotReady: ({ resource, command }) => {
    const other = otherKeyIn(resource)
    return [step('It waits for another one; look at that first:', other && command(`status ${other}`))]
  },
  ServiceInvalid: ({ resource, command }) => [
    step(
      'Correct the manifest of its Service, or spec.service in this one:',
      resource.service === undefined ? undefined : command(`status Service/${shellWord(resource.service)}`),
    ),
  ],
  LockUnreadable: edit('Correct the file that is named above; it goes on by itself then. This one is'),
  AdoptRefused: edit('Correct policy.adopt, or the Lock that names this pipe'),
  InvalidManifest: edit('Correct the manifest'),
  New: nothing,
  Adopt: nothing,
  RetryApproved: nothing,
  RetryFailed: nothing,
  RecreateApproved: nothing,
  FoundByRead: nothing,
  Created: nothing,
  Adopted: nothing,
  Moved: nothing,
  BackingOff: nothing,
  InSync: nothing,
  Accepted: nothing,
  MissingUnconfirmed: nothing,
  Healthy: nothing,
  Edited: nothing,
  Resync: nothing,
  Applied: nothing,
  Valid: nothing,
  ManifestVanishing: nothing,
  Suspended: nothing,
  Unobserved: nothing,
  InUse: nothing,
}

/** A value that can be copied into a manifest as it stands. */
const PLAIN_VALUE = /^[\w.-]{1,80}$/
const PLAIN_FIELD = /^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$/

/** The way back in the console; and, for a single plain value, the line that keeps what is there. */
function drifted({ resource, place }: Stuck): readonly NextStep[] {
  const [first, ...others] = resource.differences
  if (first === undefined) return [step('Look at what differs, and edit:', place)]
  const isAlert = kindOf(resource.key) === 'Alert'
  const where = isAlert ? 'where the alert is defined' : 'in the console'
  const isPlain = others.length === 0 && PLAIN_FIELD.test(first.field) && PLAIN_VALUE.test(first.observed)
  const back = others.length === 0 ? `${first.field} back to ${first.desired}` : 'these fields back'
  const id = resource.pipeId ?? textIn(bodyIn(resource.observed)?.['id'])
  return [
    withId(`Set ${back} ${where}.`, id),
    isPlain
      ? step(
          `Or keep ${first.observed}: write it into ${place}, below spec:`,
          nested(isAlert ? `expect.${first.field}` : first.field, first.observed),
        )
      : step('Or edit the manifest to what is there:', place),
  ]
}

/** The paths that our own message names. Names of secrets are plain, so nothing odd can be copied. */
function missingSecrets({ message }: ResourceStatus): readonly string[] {
  const paths = /^No secret at (.+?)\. Mount the secret there /.exec(message)?.[1]?.split(', ') ?? []
  return paths.filter((path) => /^[\w./-]+$/.test(path)).slice(0, 3)
}

/** `scaling.replicas`, 3 → `scaling: {replicas: 3}`, below `spec`. */
function nested(field: string, value: string): string {
  return field
    .split('.')
    .reduceRight((inner, name, index) => (index === 0 ? `${name}: ${inner}` : `{${name}: ${inner}}`), value)
}

function kin(
  resource: ResourceStatus,
  text: string | undefined,
  field: 'renamedFrom' | undefined,
): readonly NextStep[] {
  const other = otherKeyIn(resource)
  if (other === undefined) return []
  return [
    ...(text === undefined || field === undefined ? [] : [step(text, `policy: {${field}: ${other}}`)]),
    step('If it is to be a new pipe beside it:', `policy: {replaces: ${other}}`),
  ]
}

/** The first other key that the message of a resource names. Keys are plain names, so nothing odd can be copied. */
function otherKeyIn({ key, message }: ResourceStatus): Key | undefined {
  for (const [text] of message.matchAll(/\b[A-Z][A-Za-z]+\/[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?/g)) {
    const found = parseKey(text)
    if (found !== undefined && found !== key) return found
  }
  return undefined
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' && /^[\w-]{1,80}$/.test(value) ? value : undefined
}
