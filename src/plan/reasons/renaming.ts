import { nameOf } from '../../kinds/key.ts'
import { z } from '../../kinds/zod.ts'
import { anyOf, capital, nounOf } from '../../kinds/lookup.ts'
import { A_KEY, only, REFUSED, row, serviceWords, type Step } from './row.ts'

const SIMILAR = z.strictObject({
  key: A_KEY,
  other: A_KEY,
  file: z.string().optional(),
  /** No manifest can have these fields of the orphan. */
  foreign: z.array(z.string()).readonly().optional(),
})
type SimilarFacts = z.output<typeof SIMILAR>

const SIMILAR_SAMPLE = { key: 'Pipe/new', other: 'Pipe/old' } as const

function isNew({ key, other, foreign }: SimilarFacts): string {
  if (foreign !== undefined)
    return `It has fields that no manifest can have (${foreign.join(', ')}), so policy.replaces does not count. To give it up, run "pipewright forget ${other}".`
  return `If ${nameOf(key)} is a new ${nounOf(key)} beside it, set policy.replaces: ${other}.`
}

function placed({ other, file }: SimilarFacts): string {
  return file === undefined ? other : `${other} (${file})`
}

function replaces(facts: SimilarFacts | undefined): readonly Step[] {
  return facts === undefined || facts.foreign !== undefined
    ? []
    : [
        {
          text: `If it is a new ${nounOf(facts.other)} beside it, say so in the manifest.`,
          edit: { path: ['policy', 'replaces'], value: facts.other },
        },
      ]
}

interface Found {
  readonly name: string
  readonly ids: readonly string[]
  readonly more: number
  readonly differs: readonly string[]
  readonly listedAs?: string | undefined
}

function onlyId({ ids, differs }: { readonly ids: readonly string[]; readonly differs: readonly string[] }) {
  return ids.length === 1 && !differs.includes('id') ? ids[0] : undefined
}

function isNotThis(found: Found, noun: string): string {
  const { name, ids, listedAs } = found
  if (ids.length > 1)
    return `set policy.replaces: ${ids[0]}, and give this ${noun} a spec.name that none of them has`
  const isByName = listedAs === undefined || listedAs === name
  return isByName ? `give this ${noun} another spec.name` : `set policy.replaces: ${onlyId(found) ?? 'ID'}`
}

function foundWords({ name, ids, more, differs, listedAs }: Found, noun: string): string {
  const others = more === 0 ? '' : ` and ${more} more`
  if (ids.length > 1)
    return `${ids.length + more} ${noun}s of this service might be "${name}", and no manifest holds them: ${ids.join(', ')}${others}.`
  const one = `${capital(noun)} ${ids.join()}`
  if (listedAs === undefined)
    return `${one} is listed without a name, is like "${name}" in all else, and no manifest holds it.`
  const compared =
    differs.length === 0
      ? 'It is equal to the manifest, and policy.onUnknown is "ask".'
      : `It differs from the manifest in ${differs.join(', ')}.`
  return `${one} has the name "${listedAs}", and no manifest holds it. ${compared}`
}

export const RENAMING = {
  RenameSuspected: row({
    ...REFUSED,
    means: 'a recorded resource without a manifest looks like this one',
    facts: SIMILAR.extend({
      isCreated: z.boolean(),
      platformName: z.string().optional(),
    }),
    sample: { ...SIMILAR_SAMPLE, isCreated: false },
    words: (facts, noun) => {
      const { key, other, isCreated, platformName } = facts
      const name = platformName === undefined ? '' : ` and spec.name: ${platformName}, the name that it has`
      const same = isCreated
        ? `policy.adopt: <its id>, then run "pipewright forget ${other}"`
        : `policy.renamedFrom: ${other}`
      return only(
        `${other} is recorded, has no manifest any more, and looks like ${key}. If it is the same ${noun}, set ${same}${name}. ${isNew(facts)}`,
      )
    },
    steps: (facts) => [
      ...(facts === undefined
        ? []
        : [
            {
              text: `If it is the same ${nounOf(facts.other)}, say so in the manifest.`,
              edit: { path: ['policy', 'renamedFrom'], value: facts.other },
            },
            ...(facts.platformName === undefined
              ? []
              : [
                  {
                    text: `It keeps its name on the platform, so say that too.`,
                    edit: { path: ['spec', 'name'], value: JSON.stringify(facts.platformName) },
                  },
                ]),
          ]),
      ...replaces(facts),
    ],
  }),
  NameTaken: row({
    ...REFUSED,
    means: 'the resource of another manifest looks like this one',
    facts: SIMILAR,
    sample: SIMILAR_SAMPLE,
    words: (facts, noun) =>
      only(
        `${placed(facts)} has the same service and the same spec.name, an equal spec, or ${anyOf(noun)} of the same source ` +
          `and destination. If this one is its new name, remove that manifest; the ${noun} is kept. If it is a copy, give it a different spec. ${isNew(facts)}`,
      ),
    steps: (facts, about) => [
      { text: 'If it is a copy, give it a different spec:', copy: about.place },
      ...replaces(facts),
    ],
  }),
  Ambiguous: row({
    ...REFUSED,
    means:
      'the service has resources of this name, or of this source and destination, that no manifest holds, and one of them might be this one',
    facts: z.strictObject({
      key: A_KEY,
      name: z.string(),
      ids: z.array(z.string()).readonly(),
      more: z.number(),
      /** Only for a single resource. */
      differs: z.array(z.string()).readonly(),
      listedAs: z.string().optional(),
    }),
    sample: {
      key: 'Pipe/orders',
      name: 'orders',
      ids: ['ID'],
      more: 0,
      differs: ['source.kafka.topics'],
      listedAs: 'orders',
    },
    words: (found, noun) =>
      only(
        `${foundWords(found, noun)} No resource is created. If ${found.ids.length === 1 ? 'it' : 'one of them'} is this ${noun}, ` +
          `set policy.adopt: ${onlyId(found) ?? 'ID'}. If not, ${isNotThis(found, noun)}.`,
      ),
    steps: (facts, about) => [
      {
        text: `Look in the console of ${serviceWords(about)}. If it is this ${nounOf(about.key)}, adopt it.`,
        edit: {
          path: ['policy', 'adopt'],
          value: (facts && onlyId(facts)) ?? 'PIPE_ID',
        },
      },
      {
        text: `If not, ${facts === undefined ? 'give it another spec.name' : isNotThis(facts, nounOf(about.key))}:`,
        copy: about.place,
      },
    ],
  }),
  RenameWaiting: row({
    ...REFUSED,
    means: 'the resource it was renamed from cannot move yet',
    facts: SIMILAR.extend({
      by: z.enum(['policy.renamedFrom', 'policy.adopt', 'a Lock']).optional(),
      rival: A_KEY.optional(),
    }),
    sample: SIMILAR_SAMPLE,
    words: (facts, noun) => {
      const { by = 'policy.renamedFrom', rival } = facts
      const names = `${by === 'a Lock' ? 'A Lock' : by} names ${by === 'policy.renamedFrom' ? '' : `the ${noun} of `}${placed(facts)}`
      return only(
        rival !== undefined
          ? `${names}, and so does that of ${rival}; the record can move to one of them. ` +
              'Remove that line from the wrong manifest.'
          : `${names}, whose record cannot move yet. Its manifest is still there, or its ` +
              'creation is under way. Remove that manifest; then the record moves automatically.',
      )
    },
    steps: (facts, { key }) =>
      facts?.rival !== undefined
        ? [
            {
              text: 'Remove policy.renamedFrom from the wrong manifest:',
              copy: facts.rival,
            },
          ]
        : [
            {
              text: `Remove the manifest of the old name. The ${nounOf(key)} is kept and moves automatically. The old name is:`,
              copy: facts?.other,
            },
          ],
  }),
} as const
