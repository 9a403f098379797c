import { LIFECYCLES } from '../../kinds/definition.ts'
import type { Difference } from '../../kinds/difference.ts'
import { anyOf, isAlarm, nounOf } from '../../kinds/lookup.ts'
import { shownState } from '../../kinds/state.ts'
import { z } from '../../kinds/zod.ts'
import { formatDuration } from '../../lib/duration.ts'
import { MISSING_SECRET, missingSecretWords } from './requests.ts'
import { type About, type FieldEdit, type Step, withId } from '../step.ts'
import { NOT_SENT, REMOVAL, isOfService, keptWords, notSentSteps } from './removal-words.ts'
import { A_KEY, A_STATE, DRIFTED, NOT_READY, row, WELL } from './row.ts'

const FAILURE = /fail|error|fatal|crash|corrupt|broken|dead/i

const FIELDS = z.strictObject({ fields: z.array(z.string()).readonly() })
const CANNOT_UPDATE = FIELDS.extend({
  key: A_KEY,
  pipeId: z.string(),
  why: z.enum(['no request', 'done', 'at rest', 'service', 'stopped', 'policy']).optional(),
  kept: REMOVAL.optional(),
  /** Fields of an earlier edit that might be sent in part. */
  begun: z.array(z.string()).min(1).readonly().optional(),
})

const CONTEST = z.strictObject({ times: z.number(), waitMs: z.number().optional() })

function contestWords(
  fields: readonly string[],
  { times, waitMs }: z.output<typeof CONTEST>,
  noun: string,
): string {
  if (waitMs === undefined)
    return `The ${noun} failed again after ${times} ${times === 1 ? 'start' : 'starts'}. Pipewright does not start it again.`
  const what = fields.map((field) => (field === 'start' || field === 'stop' ? `the state (${field})` : field))
  return (
    `Pipewright corrected ${what.join(', ')} ${times === 1 ? 'once' : `${times} times`}, and each correction was undone. ` +
    `The next correction follows ${formatDuration(waitMs)} after the last one.`
  )
}

function contestSteps({ waitMs }: z.output<typeof CONTEST>, about: About): readonly Step[] {
  if (waitMs === undefined)
    return [
      withId(`Find out in the console why the ${nounOf(about.key)} fails.`, about.id),
      { text: 'Then start it again:', shell: `reconcile ${about.key}` },
    ]
  return [
    withId(
      `In the console, find and stop the user or tool that changes this ${nounOf(about.key)}.`,
      about.id,
    ),
    { text: 'Or change the manifest to match:', copy: about.place },
  ]
}

const A_LIST = z.enum(['policy.healthyStates', '--healthy-states'])

const IN_SYNC = {
  'create-once': 'The platform reports what the manifest asks for.',
  upsert: 'The last reply was equal to the manifest.',
  'read-only': 'The alert is as the manifest expects.',
  reference: 'The platform accepts the credentials.',
  'last valid': 'The platform reports what the last valid manifest asks for.',
  read: 'The platform reports what the manifest asks for.',
} as const

const DRIFT_WORDS = {
  manifest: (fields: string) => `The platform reports other values than the manifest for ${fields}.`,
  expectation: (fields: string) => `The alert has other values than expected for ${fields}.`,
  'last valid': (fields: string) =>
    `The platform reports other values than the last valid manifest for ${fields}.`,
  ensure: (fields: string) =>
    `policy.ensure is "absent", but the resource is not deleted: it changed since it was last in sync${fields === '' ? '' : ` (${fields})`}.`,
  unrecorded: () =>
    'policy.ensure is "absent", but the resource is not deleted: the ledger does not show that Pipewright applied it.',
} as const

export const OBSERVING = {
  InSync: row({
    ...WELL,
    means: 'the platform reports what the manifest asks for',
    facts: z.strictObject({
      as: z.enum([...LIFECYCLES, 'last valid', 'read']),
      missing: z.array(MISSING_SECRET).readonly().optional(),
      accepted: z.array(z.string()).readonly().optional(),
    }),
    words: ({ as, missing, accepted }, noun) =>
      accepted !== undefined && accepted.length > 0
        ? `The manifest was edited (${accepted.join(', ')}) to match the platform.`
        : missing === undefined
          ? IN_SYNC[as]
          : `${IN_SYNC[as]} ${missingSecretWords(missing)} Without this secret, the ${noun} could not be created again.`,
  }),
  Drifted: row({
    ...DRIFTED,
    renotifies: true,
    means: 'the platform reports other values, though the manifest did not change',
    facts: FIELDS.extend({
      from: z.enum(Object.keys(DRIFT_WORDS) as [keyof typeof DRIFT_WORDS]), // the keys of an object literal
      contest: CONTEST.optional(),
    }),
    words: ({ fields, from, contest }, noun) =>
      contest === undefined ? DRIFT_WORDS[from](fields.join(', ')) : contestWords(fields, contest, noun),
    steps: (facts, about) =>
      facts?.contest !== undefined
        ? contestSteps(facts.contest, about)
        : [
            ...(facts?.from === 'unrecorded'
              ? [{ text: 'Remove policy.ensure until Pipewright has applied the resource.' }]
              : driftSteps(facts?.fields ?? [], about)),
            ...(facts?.from === 'ensure' || facts?.from === 'unrecorded'
              ? [{ text: 'Or delete it in the console.' }]
              : []),
          ],
  }),
  NotUpdatable: row({
    ...DRIFTED,
    renotifies: true,
    means: 'the manifest was edited, but Pipewright does not send the edit',
    facts: CANNOT_UPDATE,
    words({ fields, why, kept, begun }, noun) {
      const changed = `${fields.join(', ')} changed in the manifest`
      if (why === undefined) return `${changed}, but the platform cannot update ${anyOf(noun)}.`
      const sent =
        begun === undefined
          ? 'No part of the edit was sent.'
          : `An earlier edit might be sent in part (${begun.join(', ')}). Undo the later edit to complete it.`
      return `${changed}${isOfService(why) ? ' or in its Service' : ''}, but ${NOT_SENT[why](noun)}. ${sent}${keptWords(kept, noun)}`
    },
    steps: (facts, about) =>
      facts === undefined
        ? [undoStep(about, [])]
        : [
            ...notSentSteps(facts, 'edit', about),
            ...(isOfService(facts.why) ? [] : [undoStep(about, facts.fields)]),
            {
              text: `For a new ${nounOf(about.key)} instead, give it another metadata.name, and`,
              edit: { path: ['policy', 'replaces'], value: about.key },
            },
          ],
  }),
  SecretRotated: row({
    ...DRIFTED,
    renotifies: true,
    means: 'a secret changed, or its value is not verified, and it is not sent',
    facts: CANNOT_UPDATE.extend({ isUnverified: z.literal(true).optional() }),
    words: ({ fields, why, kept, isUnverified }, noun) => {
      const notSent = why === undefined ? `the platform cannot update ${anyOf(noun)}` : NOT_SENT[why](noun)
      return isUnverified === true
        ? `Credentials not verified. The value of ${fields.join(', ')} was not sent: ${notSent}. The ${noun} might use another value.`
        : `The value of ${fields.join(', ')} changed, but ${notSent}. No request was sent.${keptWords(kept, noun)}`
    },
    steps(facts, about) {
      if (facts === undefined) return []
      if (facts.isUnverified !== true) return notSentSteps(facts, 'secret', about)
      const noun = nounOf(about.key)
      return [
        {
          text: `Set the secret's value for ${noun} ${facts.pipeId} in the console, unless it has that value already. Then run:`,
          shell: `adopt ${about.key} ${facts.pipeId}`,
        },
      ]
    },
  }),
} as const

function reported(state: string | undefined): string {
  return state === undefined ? 'not reported' : shownState(state)
}

export const STATE = {
  Healthy: row({
    ...WELL,
    means: 'its state is one of the healthy ones',
    facts: z.strictObject({ state: A_STATE.optional(), by: A_LIST.optional() }),
    words: ({ state, by }) =>
      state === undefined
        ? 'It exists.'
        : `Its state is ${shownState(state)}${by === undefined ? '' : `, as ${by} asks`}.`,
  }),
  NotJudged: row({
    ...WELL,
    means: 'it exists, but its health is unknown',
    facts: z.strictObject({ state: A_STATE.optional(), isInSync: z.boolean() }),
    words: ({ state, isInSync }) => {
      const judgement =
        state === undefined
          ? 'The platform reports no state.'
          : `No rule says whether state ${shownState(state)} is healthy.`
      return isInSync ? `In sync. ${judgement}` : judgement
    },
  }),
  UnhealthyState: row({
    ...NOT_READY,
    renotifies: true,
    means: 'its state is not a healthy one',
    facts: z.strictObject({
      state: A_STATE.optional(),
      /** Healthy states in the list `by`. Undefined: there is no list, so the name of the state decides. */
      healthy: z.array(z.string()).readonly().optional(),
      by: A_LIST.optional(),
      isDocumented: z.literal(true).optional(),
      /** The state is not listed as healthy, but its name does not sound bad. */
      mayBeMoving: z.literal(true).optional(),
    }),
    words: ({ state, healthy, by, isDocumented }) =>
      isDocumented === true
        ? `Its state is ${reported(state)}, which is not a healthy one.`
        : healthy === undefined
          ? `Its state is ${reported(state)}, which sounds unhealthy.`
          : `Its state is ${reported(state)}. ${by ?? 'policy.healthyStates'} allows ${healthy.map(shownState).join(', ')}.`,
    steps: (facts, { key, id, place }) => [
      isAlarm(key)
        ? withId('Find out why the alert fires. This problem ends when the alert stops firing.', id)
        : withId(`Find out in the console why the ${nounOf(key)} is in this state.`, id),
      ...(facts?.state === undefined || facts.healthy !== undefined || FAILURE.test(facts.state)
        ? []
        : [
            {
              text: `If ${shownState(facts.state)} is healthy, list it with all other healthy states in --healthy-states, or in policy.healthyStates:`,
              copy: place,
            },
          ]),
    ],
  }),
} as const

/** A value that needs no quotes in YAML. */
const PLAIN_VALUE = /^[\w.-]{1,80}$/
const PLAIN_FIELD = /^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$/

function driftSteps(fields: readonly string[], about: About): readonly Step[] {
  const { place, id } = about
  const only = onlyDifference(about)
  const where = isWatched(about) ? 'where the alert is defined' : 'in the console'
  const edit = only && editTo(only, about)
  const back =
    only === undefined
      ? `${fields.length === 1 ? 'it' : 'them'} back`
      : `${only.field} back to ${only.desired}`
  return [
    withId(`Change ${back} ${where}.`, id),
    edit === undefined
      ? { text: 'Or edit the manifest to match:', copy: place }
      : { text: `Or, to keep ${only?.observed},`, edit },
  ]
}

function undoStep(about: About, edited: readonly string[]): Step {
  const only = onlyDifference(about)
  const edit = only?.field === edited.join() ? editTo(only, about) : undefined
  return edit === undefined
    ? { text: 'Or undo the edit:', copy: about.place }
    : { text: 'Or, to undo the edit,', edit }
}

function onlyDifference({ differences = [] }: About): Difference | undefined {
  return differences.length === 1 ? differences[0] : undefined
}

function editTo({ field, observed }: Difference, about: About): FieldEdit | undefined {
  if (!PLAIN_FIELD.test(field) || !PLAIN_VALUE.test(observed)) return undefined
  return { path: ['spec', ...(isWatched(about) ? ['expect'] : []), ...field.split('.')], value: observed }
}

function isWatched({ key, isWritten }: About): boolean {
  return isAlarm(key) && isWritten !== true
}
