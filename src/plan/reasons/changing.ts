import { shownState } from '../../kinds/state.ts'
import { z } from '../../kinds/zod.ts'
import { ACCESS, REMOVAL, accessWords, removalSteps, removalWords } from './removal-words.ts'
import { nounOf } from '../../kinds/lookup.ts'
import { A_STATE, PROGRESSING, row, DRIFTED, WELL } from './row.ts'
import { withId } from '../step.ts'

const WHY = {
  edited: (fields: string) =>
    `${fields === '' ? 'The manifest' : fields} changed${fields === '' ? '' : ' in the manifest'}.`,
  interval: () => 'The interval has passed, or a late request might have overwritten the resource.',
  unknown: () => 'The last request might have had no effect, so the manifest is applied again.',
  platform: () => '',
  rotated: (fields: string) => `The value of ${fields} changed.`,
  unverified: (fields: string) =>
    `Credentials not verified: Pipewright has not sent the value of ${fields} yet, so the platform might use another. Pipewright sends it once, automatically.`,
  drifted: (fields: string) =>
    `Differs from the manifest: ${fields}. Pipewright sends the manifest's values, because policy.onDrift is "correct".`,
  created: (fields: string) => `${fields} differ from the create request.`,
  paused: () => 'policy.paused is true.',
  started: () => 'policy.paused is false.',
  'started again': () => 'Pipewright stopped the resource for a change, and starts it again.',
} as const

const DELETED_WHY = {
  ensure: () => 'policy.ensure is "absent".',
  edited: (fields: string, noun: string) =>
    `${fields} changed in the manifest, but an existing ${noun} cannot be changed like this. policy.onImmutable is "replace".`,
  back: (_fields: string, noun: string) =>
    `The ${noun} is being deleted, but its manifest asks for it again.`,
  removed: () => 'The manifest was removed after the request to delete.',
} as const

const DELETED_THEN: Readonly<
  Record<keyof typeof DELETED_WHY, { readonly after: string; readonly toKeep?: string }>
> = {
  ensure: {
    after: ' Then remove the manifest.',
    toKeep: 'To keep the resource, remove policy.ensure from the manifest.',
  },
  edited: { after: ' Then the new one is created.', toKeep: 'To keep it, undo the edit.' },
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
      loadsAgain: z.literal(true).optional(),
      access: ACCESS.partial({ gives: true }).optional(),
      state: A_STATE.optional(),
    }),
    words: ({ why, fields, by, is, loadsAgain, access, state }, noun) => {
      const cause = WHY[why](fields.join(', '))
      const requests = `Requests: ${by.join(', ')}.${loadsAgain === true ? ' A table with a changed mapping is removed and added again, which loads its data again.' : ''}`
      switch (is) {
        case 'to be applied':
          return `${cause} Will be applied${why === 'edited' ? '' : ' again'}.${access === undefined ? '' : accessWords(access)}`
        case 'moving':
          return `Its state is ${shownState(state ?? '')}. Pipewright reads the ${noun} until the state changes.`
        case 'to be sent':
          return `${cause} ${requests}${access === undefined ? '' : accessWords(access)}`
        case 'to be stopped first':
          return `${cause} The ${noun} can only be changed while it is stopped. Pipewright stops, changes and starts it. ${requests}`
        case 'stopping':
          return `${cause} Pipewright stops the ${noun} for the change.`
        case 'loading':
          return (
            `${cause} The ${noun} can only be changed while it is stopped. Its state is ${shownState(state ?? '')}: a stop now would lose the loaded data. ` +
            `Pipewright changes the ${noun} when the load has ended.`
          )
        case 'not seen yet':
          return `${cause} The service accepted the change but does not show it yet. Pipewright checks again.`
      }
    },
    steps: (facts, { key }) =>
      facts?.is === 'loading' ? [{ text: 'To stop and change it now:', shell: `reconcile ${key}` }] : [],
  }),
  Deleting: row({
    ...PROGRESSING,
    means: 'its manifest asks to delete it, or to replace it because no request can make the edit',
    facts: z.strictObject({
      why: z.enum(Object.keys(DELETED_WHY) as [keyof typeof DELETED_WHY]), // the keys of an object literal
      fields: z.array(z.string()).readonly(),
      pipeId: z.string().optional(),
      removal: REMOVAL,
      staysBehind: z.string().optional(),
    }),
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

const COMMANDS = {
  change: (noun: string) => `stop the ${noun} for the change.`,
  paused: (noun: string) => `stop the ${noun}: policy.paused is true.`,
  started: (noun: string) => `start the ${noun}: policy.paused is false.`,
  'started again': (noun: string) => `start the ${noun}, which Pipewright stopped for a change.`,
} as const

export const APPLYING = {
  Applied: row({
    ...WELL,
    means: 'it was applied, and the reply or a reading confirms it',
    facts: z.strictObject({ fields: z.array(z.string()).readonly() }).optional(),
    words: (facts) =>
      facts === undefined || facts.fields.length === 0 ? 'Applied.' : `Applied: ${facts.fields.join(', ')}.`,
  }),
  Stalled: row({
    ...DRIFTED,
    means: 'it was applied, but the reply still has other values',
    facts: z.strictObject({
      fields: z.array(z.string()).readonly(),
      /** When the change is sent again. Default: at the interval. */
      again: z.enum(['in an hour', 'once edited']).optional(),
      command: z
        .strictObject({ why: z.enum(Object.keys(COMMANDS) as [keyof typeof COMMANDS]), state: A_STATE })
        .optional(), // the keys of an object literal
    }),
    words: ({ fields, again, command }, noun) =>
      command !== undefined
        ? `Pipewright asked the service to ${COMMANDS[command.why](noun)} The service accepted the request more than ten minutes ago, but the state is still ${shownState(command.state)}. Pipewright sends it again within an hour.`
        : again === 'once edited'
          ? `The manifest no longer has ${fields.join(', ')}. The service accepted the change, but kept ${fields.join(', ')}.`
          : again !== undefined
            ? `The service accepted the change, but still reports other values for ${fields.join(', ')}. Pipewright sends it again within an hour.`
            : `The manifest was applied, but the reply has other values for ${fields.join(', ')}. Pipewright applies the manifest again at its interval.`,
    steps(facts, { key, id, place }) {
      const { why } = facts?.command ?? {}
      if (why !== undefined)
        return [
          withId(`${why.startsWith('start') ? 'Start' : 'Stop'} the ${nounOf(key)} in the console.`, id),
        ]
      return facts?.again === 'once edited'
        ? [{ text: 'Remove the kept value in the console, or add it to the manifest again:', copy: place }]
        : [{ text: 'Change the manifest to a value that the platform accepts:', copy: place }]
    },
  }),
} as const
