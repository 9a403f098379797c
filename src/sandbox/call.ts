import type { z } from '../kinds/zod.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import { wordIssues } from './request-schema.ts'

/** One request whose credentials are right. */
export interface Call {
  readonly params: Readonly<Record<string, string>>
  readonly contentType: string | undefined
  /** The body as it came. */
  readonly text: string
  readonly requestId: string
  /** ms since the epoch. */
  readonly now: number
}

export function serviceOf({ params }: Call): { readonly organizationId: string; readonly serviceId: string } {
  const { organizationId = '', serviceId = '' } = params
  return { organizationId: organizationId.toLowerCase(), serviceId: serviceId.toLowerCase() }
}

type Reading<T> = ({ readonly ok: true } & T) | { readonly ok: false; readonly error: string }

/** The body as it came; or what is wrong with it. */
export function readObject(call: Call): Reading<{ readonly json: JsonObject }> {
  if (!/^application\/json\s*(;|$)/i.test(call.contentType ?? '')) {
    return { ok: false, error: 'Content-Type: must be application/json' }
  }
  const json = parseJson(call.text)
  return isObject(json) ? { ok: true, json } : { ok: false, error: 'body: must be a JSON object' }
}

/** The body as `schema` wants it, and as it came; or what is wrong with it, without a value from it. */
export function readBody<T>(
  call: Call,
  schema: z.ZodType<T>,
): Reading<{ readonly value: T; readonly json: JsonObject }> {
  const body = readObject(call)
  if (!body.ok) return body
  const result = schema.safeParse(body.json)
  return result.success
    ? { ok: true, value: result.data, json: body.json }
    : { ok: false, error: wordIssues(result.error) }
}

/** The JSON of a text, or `undefined`. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
