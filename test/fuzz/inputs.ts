import { anything, type Arbitrary, array, constantFrom, sample, stringMatching } from 'fast-check'
import { createRandom, type Random } from '../torture/random.ts'

/** Endless inputs, the same for the same seed. */
export interface Inputs {
  next(): Buffer
}

/** Texts that mean something to YAML or to us. */
export const PIECES = [
  '---\n', '...\n', '- ', '? ', ': ', ':', '{', '}', '[', ']', ',', '"', "'", '\\', '|\n', '>-\n', '&a ', '*a ', '!!str ', '!x ',
  '%YAML 1.1\n', '%TAG ! !\n', '# ', '\t', '\r', '\0', '\ufeff', '<<: ', '__proto__: ', 'constructor: ', 'password: ', '\n', '\n  ',
  ' ', 'é', '🚀', '\u2028', '\u202e', '1e999', '.nan', '~', '0x', 'kind: Pipe\n', 'Pipe/', 'secretRef: ', '*', '{{ .x }}', '\ud800',
] // prettier-ignore

/** Most copies of a piece in a row: enough to nest, and to repeat, beyond every limit. */
const MOST_COPIES = 400

/** Bytes of an input: beyond it, the limits on size are what is tested. */
const MOST_BYTES = 200_000

export function createInputs(texts: readonly Buffer[], seed: number): Inputs {
  const random = createRandom(`fuzz ${seed}`)
  const structures = createStructures(seed)
  return {
    next: () => (random.below(4) === 0 ? structures.next() : mutated(texts, random)).subarray(0, MOST_BYTES),
  }
}

/** A text of the corpus after one to twelve changes. */
function mutated(texts: readonly Buffer[], random: Random): Buffer {
  let bytes: Buffer = Buffer.from(random.pick(texts))
  for (let left = 1 + random.below(12); left > 0; left -= 1) bytes = change(bytes, texts, random)
  return bytes
}

function change(bytes: Buffer, texts: readonly Buffer[], random: Random): Buffer {
  const at = random.below(bytes.length + 1)
  const to = Math.min(bytes.length, at + random.below(random.below(8) === 0 ? 400 : 12))
  const [before, between, after] = [bytes.subarray(0, at), bytes.subarray(at, to), bytes.subarray(to)]
  switch (random.below(8)) {
    case 0:
      return Buffer.concat([before, after])
    case 1:
      return Buffer.concat([before, between, between, after])
    case 2:
      return Buffer.concat([before, Buffer.from([random.below(256)]), after])
    case 3:
      return flipped(bytes, at, random)
    case 4:
      return Buffer.concat([
        before,
        Buffer.from(random.pick(PIECES).repeat(1 + random.below(MOST_COPIES))),
        bytes.subarray(at),
      ])
    case 5:
      return Buffer.concat([before, random.pick(texts), after])
    default:
      return Buffer.concat([before, Buffer.from(random.pick(PIECES)), after])
  }
}

function flipped(bytes: Buffer, at: number, random: Random): Buffer {
  const copy = Buffer.from(bytes)
  const byte = copy[at]
  if (byte !== undefined) copy[at] = byte ^ (1 << random.below(8))
  return copy
}

/** Values of any shape under our own names, as JSON; and pieces in any order. */
function createStructures(seed: number): Inputs {
  let batch: readonly string[] = []
  let used = 0
  return {
    next() {
      if (used % BATCH === 0) batch = sample(structure(), { numRuns: BATCH, seed: seed + used })
      used += 1
      return Buffer.from(batch[(used - 1) % BATCH] ?? '')
    },
  }
}

/** Structures that are made at once. */
const BATCH = 64

const NAMES = [
  'apiVersion', 'kind', 'metadata', 'name', 'labels', 'policy', 'spec', 'service', 'source', 'kafka', 'postgres', 'credentials',
  'password', 'secretRef', 'key', 'destination', 'columns', 'type', 'fieldMappings', 'roles', 'pipes', 'Pipe/a', 'expect', '__proto__',
] // prettier-ignore

const VALUES = [
  'pipewright/v1',
  'Pipe',
  'Service',
  'QueryEndpoint',
  'Alert',
  'Lock',
  'a',
  'Pipe/a',
  '*',
  '5m',
] as const

function structure(): Arbitrary<string> {
  const names = constantFrom(...NAMES)
  const inner = anything({
    key: names,
    maxDepth: 6,
    maxKeys: 8,
    values: [constantFrom(...VALUES), stringMatching(/^.{0,8}$/)],
  })
  const json = inner.map((value) => manifestAround(value))
  const noise = array(constantFrom(...PIECES, ...NAMES, ...VALUES), { maxLength: 200 }).map((pieces) =>
    pieces.join(''),
  )
  return array(constantFrom(0, 1), { minLength: 1, maxLength: 1 }).chain(([which]) =>
    which === 0 ? json : noise,
  )
}

function manifestAround(value: unknown): string {
  const kinds = ['Service', 'Pipe', 'QueryEndpoint', 'Alert', 'Lock']
  const text = JSON.stringify(value) ?? 'null'
  const kind = kinds[text.length % kinds.length] ?? 'Pipe'
  return `{"apiVersion": "pipewright/v1", "kind": "${kind}", "metadata": {"name": "a"}, "spec": ${text}}`
}
