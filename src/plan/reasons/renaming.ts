import { z } from '../../kinds/zod.ts'
import { capital, nounOf } from '../../kinds/lookup.ts'
import { type About, serviceWords, type Step } from '../step.ts'
import { A_KEY, REFUSED, row } from './row.ts'

const SIMILAR = z.strictObject({
  how: z.enum(['unclaimed', 'claimed', 'renamed-from']),
  key: A_KEY,
  other: A_KEY,
  file: z.string().optional(),
  foreign: z.array(z.string()).readonly().optional(),
  isCreated: z.boolean().optional(),
  platformName: z.string().optional(),
  by: z.enum(['policy.renamedFrom', 'policy.adopt', 'a Lock']).optional(),
  rival: A_KEY.optional(),
  replaces: z.string().optional(),
})
type SimilarFacts = z.output<typeof SIMILAR>

const LISTED = z.strictObject({
  key: A_KEY,
  name: z.string(),
  ids: z.array(z.string()).readonly(),
  more: z.number(),
  differs: z.array(z.string()).readonly(),
  listedAs: z.string().optional(),
  replaces: z.string().optional(),
})
type ListedFacts = z.output<typeof LISTED>

function placed({ other, file }: SimilarFacts): string {
  return file === undefined ? other : `${other} (${file})`
}

function newSteps({ how, other, foreign, replaces }: SimilarFacts): readonly Step[] {
  const noun = nounOf(other)
  const shell = `forget ${other}`
  if (foreign !== undefined) {
    const text = `${other} has fields that no manifest can have (${foreign.join(', ')}), so policy.replaces has no effect. To stop managing ${other}:`
    return [{ text, shell }]
  }
  if (replaces === undefined) {
    const edit = { path: ['policy', 'replaces'], value: other }
    return [{ text: `If this is a new ${noun} beside ${other},`, edit }]
  }
  const text = `If this is a new ${noun} beside ${other} and ${replaces}, restore the manifest of ${other}. Or remove its ${noun} in the console, and run:`
  return how === 'claimed' ? [] : [{ text, shell }]
}

function onlyId({ ids, differs }: ListedFacts): string | undefined {
  return ids.length === 1 && !differs.includes('id') ? ids[0] : undefined
}

function isNotThis(found: ListedFacts, noun: string): string {
  const { name, ids, listedAs, replaces } = found
  if (ids.length > 1 || (listedAs !== name && replaces !== undefined))
    return `give ${ids.length > 1 ? 'each' : 'it'} a manifest of its own, and this ${noun} another spec.name`
  if (listedAs === name) return `give this ${noun} another spec.name`
  return `set policy.replaces: ${onlyId(found) ?? 'ID'}`
}

function foundWords({ name, ids, more, differs, listedAs }: ListedFacts, noun: string): string {
  const others = more === 0 ? '' : ` and ${more} more`
  if (ids.length > 1)
    return `${ids.length + more} ${noun}s of this service might be "${name}" and have no manifest: ${ids.join(', ')}${others}.`
  const one = `${capital(noun)} ${ids.join()}`
  if (listedAs === undefined)
    return `${one} has no manifest. The list does not show its name. Its readable fields equal this manifest.`
  const compared =
    differs.length === 0
      ? 'It equals this manifest, but is not adopted, because policy.onUnknown is "ask".'
      : `It differs from this manifest in ${differs.join(', ')}.`
  return `${one} has the name "${listedAs}" and no manifest. ${compared}`
}

const SIMILAR_WORDS: Readonly<Record<SimilarFacts['how'], (facts: SimilarFacts, noun: string) => string>> = {
  unclaimed: ({ other }) =>
    `${other} is in the ledger but has no manifest. It might be this resource under its former name.`,
  claimed: (facts) =>
    `${facts.key} looks like ${placed(facts)}: both have the same service, and the same spec.name, spec, or source and destination.`,
  'renamed-from'(facts, noun) {
    const { key, by = 'policy.renamedFrom', rival } = facts
    const other = by === 'policy.renamedFrom' ? placed(facts) : `the ${noun} of ${placed(facts)}`
    const names = by === 'a Lock' ? `A Lock gives ${other} to ${key}` : `${by} of ${key} names ${other}`
    return rival === undefined
      ? `${names}. Its record cannot move to ${key} yet: ${facts.other} still has a manifest, or its create is not finished.`
      : `${names}. The manifest of ${rival} names ${facts.other} too. The record can move to only one of the two.`
  },
}

const SIMILAR_STEPS: Readonly<
  Record<SimilarFacts['how'], (facts: SimilarFacts, about: About) => readonly Step[]>
> = {
  unclaimed(facts) {
    const { other, isCreated, platformName } = facts
    const same = `If it is the same ${nounOf(other)},`
    return [
      ...(isCreated === true
        ? [
            { text: same, edit: { path: ['policy', 'adopt'], value: 'PIPE_ID' } },
            { text: 'Then remove the old record:', shell: `forget ${other}` },
          ]
        : [{ text: same, edit: { path: ['policy', 'renamedFrom'], value: other } }]),
      ...(platformName === undefined
        ? []
        : [
            {
              text: 'To keep its name on the platform, also',
              edit: { path: ['spec', 'name'], value: JSON.stringify(platformName) },
            },
          ]),
      ...newSteps(facts),
    ]
  },
  claimed(facts, { key, place }) {
    const [noun, isOld] = [nounOf(key), key === facts.other]
    const old = isOld ? 'this manifest' : `the manifest of ${facts.other}`
    return [
      { text: `If ${facts.key} is the new name of ${facts.other}, remove ${old}. The ${noun} is kept.` },
      ...(isOld
        ? [{ text: `If not, set policy.replaces: ${facts.other} in the manifest of ${facts.key}.` }]
        : [{ text: 'If this is a copy, give it a different spec:', copy: place }, ...newSteps(facts)]),
    ]
  },
  'renamed-from'({ key, by = 'policy.renamedFrom', rival, other }) {
    const line = by === 'a Lock' ? 'the line' : by
    return rival === undefined
      ? [
          {
            text: `If ${key} is the new name of ${other}, remove the manifest of ${other}. The record then moves automatically.`,
          },
          { text: `If not, remove ${line} of ${key}.` },
        ]
      : [{ text: `Remove ${line} from the wrong manifest:`, copy: rival }]
  },
}

function listedSteps(facts: ListedFacts | undefined, about: About): readonly Step[] {
  const noun = nounOf(about.key)
  const one = facts === undefined || facts.ids.length === 1 ? 'it' : 'one of them'
  return [
    {
      text: `Look in the console of ${serviceWords(about)}. If ${one} is this ${noun},`,
      edit: { path: ['policy', 'adopt'], value: (facts && onlyId(facts)) ?? 'PIPE_ID' },
    },
    {
      text: `If not, ${facts === undefined ? 'give it another spec.name' : isNotThis(facts, noun)}:`,
      copy: about.place,
    },
  ]
}

export const RENAMING = {
  Ambiguous: row({
    ...REFUSED,
    means: 'another resource looks like this one, and might be this one',
    facts: z.union([SIMILAR, LISTED]),
    words: (facts, noun) =>
      `${'how' in facts ? SIMILAR_WORDS[facts.how](facts, noun) : foundWords(facts, noun)} No request is sent until you decide.`,
    steps: (facts, about) =>
      facts !== undefined && 'how' in facts
        ? SIMILAR_STEPS[facts.how](facts, about)
        : listedSteps(facts, about),
  }),
} as const
