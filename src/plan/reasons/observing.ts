import { LIFECYCLES } from '../../kinds/definition.ts'
import { anyOf, isAlarm, nounOf } from '../../kinds/lookup.ts'
import { saysFailure, shownState } from '../../kinds/state.ts'
import { z } from '../../kinds/zod.ts'
import { formatDuration } from '../../lib/duration.ts'
import { MISSING_SECRET, missingSecretWords } from './missing-secret.ts'
import { keptWords, NOT_SENT, NOT_SENT_STEPS, wayOutWords } from './not-sent.ts'
import { REMOVAL } from './removal-words.ts'
import {
  A_KEY,
  A_STATE,
  DRIFTED,
  NOT_READY,
  row,
  sampleState,
  WELL,
  withId,
  type About,
  type FieldEdit,
  type Step,
  type Words,
} from './row.ts'

const FIELDS = z.strictObject({ fields: z.array(z.string()).readonly() })
const CANNOT_UPDATE = FIELDS.extend({
  key: A_KEY,
  pipeId: z.string(),
  /** Only if the service can change some fields. */
  why: z.enum(['no request', 'done', 'at rest', 'policy']).optional(),
  kept: REMOVAL.optional(),
})

const CONTEST = z.strictObject({
  times: z.number(),
  /** Absent if no correction follows. */
  waitMs: z.number().optional(),
})

/** @param fields `start` and `stop` are commands */
function contestWords(
  fields: readonly string[],
  { times, waitMs }: z.output<typeof CONTEST>,
  noun: string,
): Words {
  if (waitMs === undefined)
    return {
      cause: `The ${noun} failed again after ${times} starts. Pipewright does not start it again.`,
      remedy: `Find out why the ${noun} fails. Then edit the manifest, or ask for a reconcile.`,
    }
  const what = fields.map((field) => (field === 'start' || field === 'stop' ? `the state (${field})` : field))
  return {
    cause:
      `Pipewright corrected ${what.join(', ')} ${times} times, and each correction was undone. ` +
      `The next one goes out ${formatDuration(waitMs)} after the last.`,
    remedy: 'Stop the other writer, or let the manifest agree with it.',
  }
}

function contestSteps({ waitMs }: z.output<typeof CONTEST>, about: About): readonly Step[] {
  if (waitMs === undefined)
    return [
      withId(`Find out in the console why the ${nounOf(about.key)} fails.`, about.id),
      { text: 'Then have it started again:', shell: `reconcile ${about.key}` },
    ]
  return [
    withId('Find out in the console who else changes it, and stop that.', about.id),
    { text: 'Or let the manifest agree with it:', copy: about.place },
  ]
}

const A_LIST = z.enum(['policy.healthyStates', '--healthy-states'])

const IN_SYNC = {
  'create-once': 'The platform reports what the manifest asks for.',
  upsert: 'The last reply was equal to the manifest.',
  'read-only': 'The alert is as the manifest expects.',
  reference: 'The platform answers with its credentials.',
  'last valid': 'The platform reports what the last valid manifest asks for.',
  read: 'The platform reports what the manifest asks for.',
} as const

const DRIFT_WORDS: Readonly<
  Record<'manifest' | 'expectation' | 'last valid' | 'ensure', (fields: string) => Words>
> = {
  manifest: (fields) => ({
    cause: `The platform reports other values than the manifest for ${fields}.`,
    remedy: 'Change them back in the console, or edit the manifest to match.',
  }),
  expectation: (fields) => ({
    cause: `The alert has other values than expected for ${fields}.`,
    remedy: 'Change it back where it is defined, or edit what the manifest expects.',
  }),
  'last valid': (fields) => `The platform reports other values than the last valid manifest for ${fields}.`,
  ensure: (fields) => ({
    cause: `policy.ensure is "absent". It was changed since it was last in sync${fields === '' ? '' : ` (${fields})`}. Therefore it is not deleted.`,
    remedy: 'Undo the change, edit the manifest to match, or delete it in the console.',
  }),
}

export const OBSERVING = {
  InSync: row({
    ...WELL,
    means: 'the platform reports what the manifest asks for',
    facts: z.strictObject({
      as: z.enum([...LIFECYCLES, 'last valid', 'read']),
      missing: z.array(MISSING_SECRET).readonly().optional(),
      /** Fields that were edited to what the platform reports. */
      accepted: z.array(z.string()).readonly().optional(),
    }),
    sample: { as: 'create-once' },
    words: ({ as, missing, accepted }, noun) =>
      accepted !== undefined
        ? `The manifest was edited (${accepted.join(', ')}) to what the platform reports.`
        : missing === undefined
          ? IN_SYNC[as]
          : `${IN_SYNC[as]} ${missingSecretWords(missing)} Until it is mounted, the ${noun} could not be created again.`,
  }),
  Drifted: row({
    ...DRIFTED,
    toldAnew: true,
    means: 'the platform reports other values, though the manifest did not change',
    facts: FIELDS.extend({
      from: z.enum(['manifest', 'expectation', 'last valid', 'ensure']),
      contest: CONTEST.optional(),
    }),
    sample: { fields: ['scaling.replicas'], from: 'manifest' },
    // The same words for each read: a second read is not news.
    words: ({ fields, from, contest }, noun) =>
      contest === undefined ? DRIFT_WORDS[from](fields.join(', ')) : contestWords(fields, contest, noun),
    steps: (facts, about) =>
      facts?.contest === undefined ? driftSteps(about) : contestSteps(facts.contest, about),
  }),
  NotUpdatable: row({
    ...DRIFTED,
    toldAnew: true,
    means: 'the manifest was edited, and Pipewright does not send the edit',
    facts: CANNOT_UPDATE,
    sample: { key: 'Pipe/orders', fields: ['scaling.replicas'], pipeId: 'ID' },
    words: ({ key, fields, pipeId, why, kept }, noun) =>
      why !== undefined
        ? `${fields.join(', ')} changed in the manifest, ${NOT_SENT[why](noun)}. No part of the edit was sent.${keptWords(kept, noun)} ${wayOutWords(why, { key, pipeId }, noun)}`
        : `${fields.join(', ')} changed in the manifest, but the interface cannot update ${anyOf(noun)}. Undo the edit, or change ${noun} ` +
          `${pipeId} in the console. If the platform does not report the field, then run "pipewright adopt ${key} ${pipeId}". ` +
          `For a new ${noun} instead, give it another metadata.name, with policy.replaces: ${key}.`,
    steps: (facts, about) => [
      ...(facts?.why === undefined
        ? [
            {
              text: `The interface cannot update ${anyOf(nounOf(about.key))}. Make the same change in the console, to this ${nounOf(about.key)}:`,
              copy: about.pipeId,
            },
          ]
        : NOT_SENT_STEPS[facts.why](about)),
      undoStep(about),
    ],
  }),
  SecretRotated: row({
    ...DRIFTED,
    toldAnew: true,
    means: 'a secret changed, or its value is not verified, and it is not sent',
    facts: CANNOT_UPDATE.extend({
      /** Never sent, and not mounted at the adoption. */
      isUnverified: z.literal(true).optional(),
    }),
    sample: { key: 'Pipe/orders', fields: ['source.kafka.credentials.password'], pipeId: 'ID' },
    words: ({ key, fields, pipeId, why, kept, isUnverified }, noun) => {
      if (isUnverified === true)
        return {
          cause:
            `Credentials not verified: Pipewright never sent the value of ${fields.join(', ')}, ` +
            `${why === undefined ? `and the interface cannot update ${anyOf(noun)}` : NOT_SENT[why](noun)}.`,
          remedy: `If ${noun} ${pipeId} has this value, run "pipewright adopt ${key} ${pipeId}". If not, set it in the console first.`,
        }
      return why !== undefined
        ? `The value of ${fields.join(', ')} changed, ${NOT_SENT[why](noun)}. No request was sent.${keptWords(kept, noun)} ${wayOutWords(why, { key, pipeId }, noun)}`
        : `The value of ${fields.join(', ')} changed since the ${noun} was created, and the interface cannot update ${anyOf(noun)}. Change it ` +
            `for ${noun} ${pipeId} in the console, then run "pipewright adopt ${key} ${pipeId}".`
    },
    steps: (facts, about) => {
      if (facts?.isUnverified === true)
        return [
          ...(facts.why === undefined ? [] : NOT_SENT_STEPS[facts.why](about)),
          {
            text: `If the ${nounOf(about.key)} has the mounted value, or once it is set in the console:`,
            shell: `adopt ${about.key} ${facts.pipeId}`,
          },
        ]
      return facts?.why === undefined
        ? [
            {
              text: `The interface cannot update ${anyOf(nounOf(about.key))}. Set the new secret in the console, for this ${nounOf(about.key)}:`,
              copy: about.pipeId,
            },
          ]
        : NOT_SENT_STEPS[facts.why](about)
    },
  }),
} as const

function reported(state: string | undefined): string {
  return state === undefined ? 'not reported' : shownState(state)
}

/** Verdicts of `judgeState`. */
export const STATE = {
  Healthy: row({
    ...WELL,
    means: 'its state is one of the healthy ones',
    facts: z.strictObject({ state: A_STATE.optional(), by: A_LIST.optional() }),
    sample: { state: sampleState('Running'), by: 'policy.healthyStates' },
    words: ({ state, by }) =>
      state === undefined
        ? 'It exists.'
        : `Its state is ${shownState(state)}${by === undefined ? '' : `, as ${by} asks`}.`,
  }),
  NotJudged: row({
    ...WELL,
    means: 'it exists, but its health is unknown',
    facts: z.strictObject({ state: A_STATE.optional(), isInSync: z.boolean() }),
    sample: { state: sampleState('Running'), isInSync: true },
    words: ({ state, isInSync }) => {
      const judgement =
        state === undefined
          ? 'The platform reports no state.'
          : `Nothing says whether state ${shownState(state)} is healthy.`
      return isInSync ? `In sync. ${judgement}` : judgement
    },
  }),
  UnhealthyState: row({
    ...NOT_READY,
    toldAnew: true,
    means: 'its state is not a healthy one',
    facts: z.strictObject({
      state: A_STATE.optional(),
      /** Undefined if the state's name decides. */
      healthy: z.array(z.string()).readonly().optional(),
      by: A_LIST.optional(),
      isDocumented: z.literal(true).optional(),
      /** Unlisted, but its name does not sound bad. */
      mayBeMoving: z.literal(true).optional(),
    }),
    sample: { state: sampleState('Failed'), healthy: ['Running'], by: 'policy.healthyStates' },
    words: ({ state, healthy, by, isDocumented }) =>
      isDocumented === true
        ? `Its state is ${reported(state)}, which is not a healthy one.`
        : healthy === undefined
          ? {
              cause: `Its state is ${reported(state)}, which sounds unhealthy.`,
              remedy:
                state !== undefined && saysFailure(state)
                  ? ''
                  : 'If it is healthy, list it in policy.healthyStates together with all other healthy states, or for all resources in --healthy-states.',
            }
          : `Its state is ${reported(state)}. ${by ?? 'policy.healthyStates'} allows ${healthy.map(shownState).join(', ')}.`,
    steps: (facts, { key, id, place: manifest }) => [
      isAlarm(key)
        ? withId('Find out why the alert fires. Clears by itself when the alert stops firing.', id)
        : withId(`Find out in the console why the ${nounOf(key)} is in this state.`, id),
      ...(facts?.state === undefined || facts.healthy !== undefined || saysFailure(facts.state)
        ? []
        : [
            {
              text: `Or, if ${shownState(facts.state)} is healthy, list it under policy.healthyStates together with all other healthy states, in:`,
              copy: manifest,
            },
          ]),
    ],
  }),
} as const

/** Needs no quotes in a manifest. */
const PLAIN_VALUE = /^[\w.-]{1,80}$/
const PLAIN_FIELD = /^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$/

/** With the exact line if one plain value differs. */
function driftSteps(about: About): readonly Step[] {
  const { place: manifest, id, differences } = about
  const [first, ...others] = differences
  if (first === undefined) return [{ text: 'Check which fields differ, then edit:', copy: manifest }]
  const where = isWatched(about) ? 'where the alert is defined' : 'in the console'
  const edit = others.length === 0 ? editTo(first.observed, first.field, about) : undefined
  const back = others.length === 0 ? `${first.field} back to ${first.desired}` : 'these fields back'
  return [
    withId(`Set ${back} ${where}.`, id),
    edit === undefined
      ? { text: 'Or edit the manifest to match:', copy: manifest }
      : { text: `Or keep ${first.observed}.`, edit },
  ]
}

function undoStep(about: About): Step {
  const { place: manifest, differences } = about
  const [first, ...others] = differences
  const edit =
    first !== undefined && others.length === 0 ? editTo(first.observed, first.field, about) : undefined
  return edit === undefined
    ? { text: 'Or undo the edit:', copy: manifest }
    : { text: 'Or undo the edit.', edit }
}

function editTo(value: string, field: string, about: About): FieldEdit | undefined {
  if (!PLAIN_FIELD.test(field) || !PLAIN_VALUE.test(value)) return undefined
  return { path: ['spec', ...(isWatched(about) ? ['expect'] : []), ...field.split('.')], value }
}

function isWatched({ key, isWritten }: About): boolean {
  return isAlarm(key) && isWritten !== true
}
