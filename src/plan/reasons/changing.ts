import { shownState } from '../../kinds/state.ts'
import { z } from '../../kinds/zod.ts'
import { ACCESS, accessWords } from './access.ts'
import { nounOf } from '../../kinds/lookup.ts'
import { REMOVAL, removalSteps, removalWords } from './removal-words.ts'
import { A_KEY, A_STATE, PROGRESSING, row } from './row.ts'

const WHY = {
  edited: (fields: string) =>
    `${fields === '' ? 'The manifest' : fields} changed${fields === '' ? '' : ' in the manifest'}.`,
  interval: () => 'Last applied longer ago than its interval.',
  unknown: () => 'It is unknown whether the last request was carried out.',
  platform: () => '',
  rotated: (fields: string) => `The value of ${fields} changed.`,
  unverified: (fields: string) =>
    `Credentials not verified: Pipewright never sent the value of ${fields}. It is sent once.`,
  drifted: (fields: string) => `${fields} differ from the manifest, and policy.onDrift is "correct".`,
  created: (fields: string) => `${fields} are not as they were asked for when it was created.`,
  paused: () => 'policy.paused is true.',
  started: () => 'policy.paused is false.',
  'started again': () => 'It was stopped to be changed, and is started again.',
} as const

const DELETED_WHY = {
  ensure: () => 'policy.ensure is "absent".',
  edited: (fields: string, noun: string) =>
    `${fields} changed in the manifest, no request changes that in a ${noun} that exists, and policy.onImmutable is "replace".`,
  back: (_fields: string, noun: string) => `The ${noun} is being deleted, and its manifest asks for it.`,
  removed: () => 'The manifest was removed after the request to delete.',
} as const

/** Each text has a leading space. */
const DELETED_THEN: Readonly<
  Record<keyof typeof DELETED_WHY, { readonly after: string; readonly toKeep?: string }>
> = {
  ensure: {
    after: ' Then remove the manifest.',
    toKeep: 'To keep it, remove policy.ensure from the manifest.',
  },
  edited: { after: ' Then it is created again.', toKeep: 'To keep it, undo the edit.' },
  back: { after: ' Then it is created again.' },
  removed: { after: '' },
}

export const CHANGING = {
  Changing: row({
    ...PROGRESSING,
    means: 'an existing resource is being changed',
    facts: z.strictObject({
      why: z.enum(Object.keys(WHY) as [keyof typeof WHY]), // the keys of an object literal
      fields: z.array(z.string()).readonly(),
      by: z.array(z.string()).readonly(),
      is: z.enum([
        'to be applied',
        'to be sent',
        'to be stopped first',
        'stopping',
        'loading',
        'not seen yet',
        'moving',
      ]),
      /** A table is removed and added again, which loads its data again. */
      loadsAgain: z.literal(true).optional(),
      /** Only a person can stop a pipe in this state. */
      loading: z.strictObject({ key: A_KEY, state: A_STATE }).optional(),
      access: ACCESS.partial({ gives: true }).optional(),
      state: A_STATE.optional(),
    }),
    sample: {
      why: 'edited',
      fields: ['scaling.replicas'],
      by: ['scalePipe'],
      is: 'to be sent',
    },
    words: ({ why, fields, by, is, loadsAgain, loading, access, state }, noun) => {
      const cause = WHY[why](fields.join(', '))
      const requests = `Requests: ${by.join(', ')}.${loadsAgain === true ? ' A table whose mapping changes is removed and added, and so loaded again.' : ''}`
      switch (is) {
        case 'to be applied':
          return `${cause} Will be applied${why === 'edited' ? '' : ' again'}.${access === undefined ? '' : accessWords(access)}`
        case 'moving':
          return `Its state is ${shownState(state ?? '')}. It is checked again until that changes.`
        case 'to be sent':
          return `${cause} ${requests}${access === undefined ? '' : accessWords(access)}`
        case 'to be stopped first':
          return `${cause} It can only be changed while it is stopped: it is stopped, changed and started again. ${requests}`
        case 'stopping':
          return `${cause} It is being stopped for the change.`
        case 'loading':
          return (
            `${cause} It can only be changed while it is stopped, and its state is ${shownState(loading?.state ?? '')}: to stop it now would throw away what it has loaded. ` +
            `It is changed as soon as the ${noun} runs.`
          )
        case 'not seen yet':
          return `${cause} The service took it, and does not show it yet. It is checked again.`
      }
    },
    steps: (facts, { key }) =>
      facts?.is === 'loading' ? [{ text: 'To stop and change it now:', shell: `reconcile ${key}` }] : [],
  }),
  Deleting: row({
    ...PROGRESSING,
    means:
      'its manifest asks to delete it, for good or to create it again with an edit that cannot be made in place',
    facts: z.strictObject({
      why: z.enum(Object.keys(DELETED_WHY) as [keyof typeof DELETED_WHY]), // the keys of an object literal
      fields: z.array(z.string()).readonly(),
      pipeId: z.string().optional(),
      removal: REMOVAL,
      /** About resources that survive the deletion. */
      staysBehind: z.string().optional(),
    }),
    sample: { why: 'ensure', fields: [], pipeId: 'ID', removal: { is: 'later', at: 0 } },
    words: ({ why, fields, removal, staysBehind }, noun) =>
      removalWords(removal, {
        asked: DELETED_WHY[why](fields.join(', '), noun),
        noun,
        staysBehind,
        after: DELETED_THEN[why].after,
      }),
    steps: (facts, { key }) =>
      facts === undefined ? [] : removalSteps(facts.removal, nounOf(key), DELETED_THEN[facts.why].toKeep),
  }),
} as const
