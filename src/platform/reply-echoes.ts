import { isObject, type Json } from '../lib/json.ts'
import { type Echo, type EchoMask, echoMask } from '../lib/echo.ts'
import type { Secret } from '../lib/secret.ts'
import { sensitiveTexts } from '../kinds/mask.ts'

/** Facts that are compared or asked for again as they came. */
const AS_IT_CAME: ReadonlySet<string> = new Set(['id', 'serviceId', 'createdAt', 'updatedAt'])

/** A reply may be nested deeper than any stack. */
const DEEPEST = 64

/** The mask for a reply to what was sent. @param sent what mounted secrets it held */
export function echoesOf(
  login: readonly Secret[],
  body: string | undefined,
  sent: readonly Secret[],
): EchoMask {
  const referenced = sent.map((secret) => secret.reveal())
  const named: readonly Echo[] = body === undefined ? [] : sensitiveTexts(body, new Set(referenced))
  return echoMask([...login.map((secret) => secret.reveal()), ...named])
}

/** The texts that stand at the top of a resource, such as its state, masked; all of them `deep` down. */
export function withoutEchoes<T>(resource: T, echoes: EchoMask, how: 'top' | 'deep'): T {
  if (!isObject(resource)) return resource
  const entries = Object.entries(resource).map(([name, value]) => {
    if (AS_IT_CAME.has(name)) return [name, value]
    if (typeof value === 'string') return [name, echoes(value)]
    return [name, how === 'deep' ? maskBelow(value as Json, echoes, 1) : value] // it came as JSON
  })
  return Object.fromEntries(entries) as T // the same names, and texts where there were texts
}

function maskBelow(value: Json | undefined, echoes: EchoMask, depth: number): Json | undefined {
  if (typeof value === 'string') return echoes(value)
  if (typeof value !== 'object' || value === null || depth >= DEEPEST) return value
  if (!isObject(value)) return value.map((item) => maskBelow(item, echoes, depth + 1) ?? null)
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, maskBelow(inner, echoes, depth + 1)]),
  )
}
