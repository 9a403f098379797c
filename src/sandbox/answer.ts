import type { Json, JsonObject } from '../lib/json.ts'

/** What the platform has to say to one request, before anything goes wrong on the way. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: JsonObject
}

/** The common envelope around a resource (`spec/api.md` 1). */
export function envelope(requestId: string, result: JsonObject): Answer {
  return { status: 200, headers: {}, body: { status: 200, requestId, result } }
}

/** The reply of the alert operation, which has no envelope (4.4). */
export function bare(data: JsonObject): Answer {
  return { status: 200, headers: {}, body: { data } }
}

/** A refusal. The interface does not show what one looks like (7); this is ours. */
export function failure(
  requestId: string,
  status: number,
  error: string,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  const body: Record<string, Json> = { status, requestId, error }
  return { status, headers, body }
}
