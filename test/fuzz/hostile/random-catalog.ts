import { createRandom, type Random } from '../../torture/random.ts'
import { PIECES } from '../inputs.ts'
import { MANY_DOCUMENTS } from './many-documents.ts'
import { ONE_DOCUMENT } from './one-document.ts'
import { ordinary } from './ordinary.ts'
import { randomDocuments } from './random-documents.ts'
import type { Files, Shape } from './text.ts'

/** What a catalog is made of: the same recipe, the same catalog; with other bytes, the same structure of another size. */
export interface Recipe {
  readonly seed: number
  readonly number: number
  /** About so many. */
  readonly bytes: number
}

/** Bytes of a new catalog: large enough to tell, small enough for many of them. */
const LEAST_BYTES = 3_000
const MOST_BYTES = 300_000

export function recipeOf(seed: number, number: number): Recipe {
  const random = createRandom(`size of catalog ${seed} ${number}`)
  return { seed, number, bytes: Math.round(LEAST_BYTES * (MOST_BYTES / LEAST_BYTES) ** random.next()) }
}

export function asText({ seed, number, bytes }: Recipe): string {
  return `${seed}:${number}:${bytes}`
}

/** @throws Error when the text is no recipe */
export function recipeIn(text: string): Recipe {
  const [seed, number, bytes] = text.split(':').map(Number)
  if (seed === undefined || number === undefined || !(Number(bytes) > 0))
    throw new Error('a catalog is named SEED:NUMBER:BYTES')
  return { seed, number, bytes: Number(bytes) }
}

/** One to four parts, hostile each in its own way, and then changed as a whole. */
export function catalogOf({ seed, number, bytes }: Recipe): Files {
  const random = createRandom(`catalog ${seed} ${number}`)
  const count = random.pick([1, 1, 2, 3, 4])
  const files = new Map<string, string>()
  for (let part = 0; part < count; part += 1) {
    const at = random.stream(`part ${part}`)
    for (const [name, text] of partOf(at)(bytes / count)) files.set(`${part}/${name}`, text)
  }
  const changes = Array.from({ length: random.below(3) }, () => random.pick(CHANGES))
  return changes.reduce((before, change, at) => change(before, random.stream(`change ${at}`)), files as Files)
}

const KNOWN: readonly Shape[] = Object.values({ ...MANY_DOCUMENTS, ...ONE_DOCUMENT })

function partOf(random: Random): Shape {
  return random.weighted<Shape>([
    [4, random.pick(KNOWN)],
    [6, (bytes) => filled(random, bytes)],
    [1, ordinary],
  ])
}

/** Documents of one structure, in files of so many. */
function filled(random: Random, bytes: number): Files {
  const perFile = random.pick([1, 3, 100, 900, 2_000])
  const nameOf = random.pick(FILE_NAMES)
  const document = randomDocuments(random, bytes)
  const files = new Map<string, string>()
  let texts: string[] = []
  const close = () => {
    if (texts.length > 0) files.set(nameOf(files.size), texts.join('---\n'))
    texts = []
  }
  for (let n = 0, size = 0; size < bytes; n += 1) {
    const text = document(n)
    texts.push(text)
    size += text.length + 4
    if (texts.length === perFile) close()
  }
  close()
  return files
}

const FILE_NAMES: readonly ((n: number) => string)[] = [
  (n) => `f${n}.yaml`,
  (n) => `${n}.json`,
  (n) => `d${n % 20}/f${n}.yml`,
  (n) => `${'d/'.repeat(40)}f${n}.yaml`,
  (n) => `${'long-name-'.repeat(20)}${n}.yaml`,
  (n) => `pipewright.lock${n === 0 ? '' : `/${n}`}.yaml`,
]

type Change = (files: Files, random: Random) => Files

function eachText(files: Files, change: (text: string) => string): Files {
  return new Map([...files].map(([name, text]) => [name, change(text)]))
}

const CHANGES: readonly Change[] = [
  (files) => eachText(files, (text) => text.replaceAll('\n', '\r\n')),
  (files) => eachText(files, (text) => text.replaceAll('\n', ' # a: comment, "{[\n')),
  (files) => eachText(files, (text) => `\ufeff${text}\n\n...\n`),
  (files) => eachText(files, (text) => text.replaceAll('name: ', 'name:   ')),
  (files) => eachText(files, (text) => text.replaceAll('  ', '   ')),
  (files) => eachText(files, (text) => text.replaceAll('---\n', '')),
  (files) => eachText(files, (text) => text.replaceAll('---\n', '--- # next\n%YAML 1.2\n')),
  twice,
  mutated,
  mutated,
]

/** All of it again under other names: each key is there twice. */
function twice(files: Files): Files {
  return new Map([...files, ...[...files].map(([name, text]) => [`again/${name}`, text] as const)])
}

/** Pieces that mean something to YAML in a few places of some files. */
function mutated(files: Files, random: Random): Files {
  return eachText(files, (text) => {
    let changed = text
    for (let left = random.below(4); left > 0; left -= 1) {
      const at = random.below(changed.length + 1)
      const piece = random.pick(PIECES).repeat(1 + random.below(random.chance(0.2) ? 100 : 2))
      changed = changed.slice(0, at) + piece + changed.slice(at)
    }
    return changed
  })
}
