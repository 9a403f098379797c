import { nounOf } from '../../kinds/lookup.ts'
import { shownState } from '../../kinds/state.ts'
import { z } from '../../kinds/zod.ts'
import { withId } from '../step.ts'
import { A_STATE, DRIFTED, row, WELL } from './row.ts'

const COMMANDS = {
  change: {
    words: (noun: string) => `The ${noun} was asked to stop for the change.`,
    step: 'Stop',
  },
  paused: {
    words: (noun: string) => `The ${noun} was asked to stop, as policy.paused is true.`,
    step: 'Stop',
  },
  started: {
    words: (noun: string) => `The ${noun} was asked to start, as policy.paused is false.`,
    step: 'Start',
  },
  'started again': {
    words: (noun: string) => `The ${noun} was stopped to be changed, and was asked to start again.`,
    step: 'Start',
  },
} as const

type Command = keyof typeof COMMANDS

export const APPLYING = {
  Applied: row({
    ...WELL,
    means: 'it was applied, and the reply or a reading confirms it',
    facts: z.strictObject({ fields: z.array(z.string()).readonly() }).optional(),
    sample: { fields: ['scaling.replicas'] },
    words: (facts) =>
      facts === undefined || facts.fields.length === 0 ? 'Applied.' : `Applied: ${facts.fields.join(', ')}.`,
  }),
  Stalled: row({
    ...DRIFTED,
    means: 'it was applied, and the reply keeps holding other values',
    facts: z.strictObject({
      fields: z.array(z.string()).readonly(),
      now: z.boolean(),
      /** Default: the interval. `once edited`: the service keeps fields that the manifest no longer has. */
      again: z.enum(['in an hour', 'once edited']).optional(),
      /** Without effect, with its cause and the unchanged state. */
      command: z.strictObject({ why: z.enum(Object.keys(COMMANDS) as [Command]), state: A_STATE }).optional(), // the keys of an object literal
    }),
    sample: { fields: ['roles'], now: false },
    words: ({ fields, again, command }, noun) =>
      command !== undefined
        ? `${COMMANDS[command.why].words(noun)} The service took that more than ten minutes ago, and its state is ${shownState(command.state)}. It is asked again within an hour.`
        : again === 'once edited'
          ? `${fields.join(', ')} is not in the manifest any more, and the service keeps it: the request that leaves it out was taken, and had no effect there.`
          : again !== undefined
            ? `It was changed, and the service took the request, but still reports other values for ${fields.join(', ')}. The change is sent again within an hour.`
            : `Applied, but the platform answered with other values for ${fields.join(', ')}. Will be applied again at its interval.`,
    steps(facts, { key, id, place }) {
      if (facts?.command !== undefined)
        return [withId(`${COMMANDS[facts.command.why].step} the ${nounOf(key)} in the console.`, id)]
      return facts?.again === 'once edited'
        ? [{ text: 'Take it away in the console, or write it in the manifest again:', copy: place }]
        : [{ text: 'Change the manifest to a value that the platform accepts:', copy: place }]
    },
  }),
} as const
