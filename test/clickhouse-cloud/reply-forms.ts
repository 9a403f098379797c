import type { Json } from '../../src/lib/json.ts'
import type { Random } from '../torture/random.ts'
import { textOf } from './look.ts'

/** The same value as it may be written in a reply: what the form of a field says that means nothing is left to chance. */
export function writtenIn(form: string, value: Json, random: Random): Json {
  return (WRITERS[form.replace('whenReturned ', '')] ?? asItIs)(value, random)
}

type Writer = (value: Json, random: Random) => Json

const WRITERS: Readonly<Record<string, Writer>> = {
  'comma set': (value, random) =>
    shuffled(textOf(value).split(','), random)
      .map((part) => part.trim())
      .join(random.pick([',', ', ', ' ,', ' , '])),
  set: (value, random) => (Array.isArray(value) ? shuffled(value, random) : value),
  instant: (value, random) => instantIn(textOf(value), random),
  'instant (unix)': (value, random) =>
    random.pick([value, textOf(value), instantIn(new Date(Number(value) * 1000).toISOString(), random)]),
  pem: (value, random) =>
    random.pick(['', '\n', ' \n']) +
    textOf(value)
      .trim()
      .replaceAll(/\r?\n/g, random.pick(['\n', '\r\n'])) +
    random.pick(['', '\n', '\r\n\r\n']),
  engine: (value, random) => `${textOf(value)}${random.pick(['', '()', '(updated_at)', ' (a, b)'])}`,
  'quantity (m)': (value, random) => random.pick([value, `${textOf(value)}m`, String(Number(value) / 1000)]),
  'quantity (Gi)': (value, random) =>
    random.pick([value, `${textOf(value)}Gi`, `${Number(value) * 1024}Mi`, String(Number(value) * 2 ** 30)]),
}

function asItIs(value: Json): Json {
  return value
}

/** The same instant, with a zone, and with microseconds or without. */
function instantIn(text: string, random: Random): string {
  const iso = new Date(/[zZ]$|[-+]\d\d:\d\d$/.test(text) ? text : `${text}Z`).toISOString()
  return `${iso.slice(0, 19)}${random.pick(['', '.000', '.000000'])}${random.pick(['Z', '+00:00'])}`
}

export function shuffled<T>(items: readonly T[], random: Random): readonly T[] {
  return items
    .map((item) => [random.next(), item] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, item]) => item)
}

/** One of some values, of which none may be a value as well. */
export function oneOf<T>(items: readonly T[], random: Random): T | undefined {
  return items[random.below(items.length)]
}
