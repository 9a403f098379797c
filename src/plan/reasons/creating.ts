import { capital } from '../../kinds/lookup.ts'
import { z } from '../../kinds/zod.ts'
import { ACCESS, accessWords, noneWords } from './removal-words.ts'
import { PROGRESSING, row, WELL } from './row.ts'

const PIPE = z.strictObject({ pipeId: z.string() })

const PAUSED = {
  'from the start': () => ', paused',
  'after the start': (noun: string) =>
    `. The service starts each new ${noun} of this source. Pipewright stops it right after`,
} as const

export const CREATING = {
  New: row({
    ...PROGRESSING,
    means: 'it does not exist yet',
    facts: z.discriminatedUnion('is', [
      z.strictObject({
        is: z.literal('created'),
        paused: z.enum(Object.keys(PAUSED) as [keyof typeof PAUSED]).optional(), // the keys of an object literal
      }),
      z.strictObject({ is: z.literal('applied'), there: z.union([z.literal('none'), ACCESS]).optional() }),
      /** The create follows an earlier attempt. `forced`: the request of that attempt might still arrive. */
      z.strictObject({ is: z.enum(['tried again', 'settled', 'forced']), attempt: z.number() }),
      z.strictObject({ is: z.literal('gone'), pipeId: z.string() }),
    ]),
    words: (facts, noun) => {
      switch (facts.is) {
        case 'created':
          return `Will be created${facts.paused === undefined ? '' : PAUSED[facts.paused](noun)}.`
        case 'tried again':
          return `Attempt ${facts.attempt} failed and created no resource. Pipewright will retry.`
        case 'settled':
          return `The outcome of attempt ${facts.attempt} was unknown. An operator decided to send the create again.`
        case 'forced':
          return `An operator allowed another create with --force, although the outcome of attempt ${facts.attempt} is unknown. If its request still arrives, there will be two ${noun}s.`
        case 'gone':
          return `An operator confirmed that ${noun} ${facts.pipeId} is gone. A new one will be created.`
        case 'applied': {
          const { there } = facts
          if (there === undefined) return `Will be applied, and replaces any existing ${noun}.`
          return there === 'none'
            ? `${noneWords(noun)} Will be applied.`
            : `The service has a ${noun} already. Will be applied.${accessWords(there)}`
        }
      }
    },
  }),
  Adopt: row({
    ...PROGRESSING,
    means: 'an existing resource is adopted',
    facts: z.discriminatedUnion('by', [
      PIPE.extend({ by: z.enum(['policy.adopt', 'a Lock']), gone: z.string().optional() }),
      PIPE.extend({ by: z.literal('the list') }),
      PIPE.extend({ by: z.literal('a reply'), attempt: z.number() }),
    ]),
    words: (facts, noun) => {
      const { pipeId } = facts
      switch (facts.by) {
        case 'the list':
          return `The service has ${noun} ${pipeId} with the name and values of the manifest. The ledger has no record of it. It will be adopted.`
        case 'a reply':
          return `The reply to attempt ${facts.attempt} was incomplete, but it had the id ${pipeId}. A read will show whether this is the new ${noun}.`
        case 'policy.adopt':
        case 'a Lock': {
          const before = facts.gone === undefined ? '' : `${capital(noun)} ${facts.gone} is gone. `
          return `${before}${capital(noun)} ${pipeId} will be adopted, as ${facts.by} says.`
        }
      }
    },
  }),
  Created: row({
    ...WELL,
    means: 'the resource was created',
    facts: PIPE.extend({ inPlaceOf: z.string().optional(), isByRead: z.literal(true).optional() }),
    words: ({ pipeId, inPlaceOf, isByRead }, noun) => {
      const created = `${capital(noun)} ${pipeId} was created${inPlaceOf === undefined ? '' : ` in place of ${noun} ${inPlaceOf}`}.`
      return isByRead === true
        ? `${created} The reply was incomplete, but it had the id, and a read by this id found the ${noun}.`
        : created
    },
  }),
  Adopted: row({
    ...WELL,
    means: 'an existing resource was adopted',
    facts: z.union([
      PIPE.extend({ inPlaceOf: z.string().optional(), isAsAsked: z.literal(true).optional() }),
      z.strictObject({ from: z.string(), to: z.string() }),
    ]),
    words: (facts, noun) => {
      if ('from' in facts)
        return `The record of ${facts.from} moved to ${facts.to}: the same ${noun} under a new name.`
      const { pipeId, inPlaceOf, isAsAsked } = facts
      return isAsAsked === true
        ? `The service already has ${noun} ${pipeId}. It equals the manifest, so Pipewright adopts it unchanged.`
        : `${capital(noun)} ${pipeId} was adopted${inPlaceOf === undefined ? '' : ` in place of ${noun} ${inPlaceOf}, which is gone`}.`
    },
  }),
} as const
