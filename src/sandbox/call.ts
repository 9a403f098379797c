import type { z } from '../kinds/zod.ts'
import { isObject, type JsonObject, parseJson } from '../lib/json.ts'
import { wordIssues } from './request-schema.ts'

/** With valid credentials. */
export interface Call {
  readonly params: Readonly<Record<string, string>>
  readonly contentType: string | undefined
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

export function readObject(call: Call): Reading<{ readonly json: JsonObject }> {
  if (!/^application\/json\s*(;|$)/i.test(call.contentType ?? '')) {
    return { ok: false, error: 'Content-Type: must be application/json' }
  }
  const json = parseJson(call.text)
  return isObject(json) ? { ok: true, json } : { ok: false, error: 'body: must be a JSON object' }
}

/** By `schema` and as sent. The mistake contains no value. */
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
