import {
  observedAlert,
  observedEndpoint,
  observedPipe,
  type ObservedAlert,
  type ObservedEndpoint,
  type ObservedPipe,
} from '../kinds/observed.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import type { Wire } from './wire.ts'

/** A body, as far as it could be understood. */
export interface ReplyBody {
  /** `undefined`: not a JSON object. */
  readonly json: JsonObject | undefined
  readonly requestId: string | undefined
  /** An error in the envelope of the platform (1), not one of a proxy: it carries the request id, and no other status. */
  readonly isPlatforms: boolean
}

/** No reply came, or none that says anything. */
export const NO_BODY: ReplyBody = { json: undefined, requestId: undefined, isPlatforms: false }

/** Envelope of `spec/api.md` 1. Never throws. */
export function readBody(text: string, status: number, wire: Wire): ReplyBody {
  const json = jsonObject(text)
  if (json === undefined) return NO_BODY
  const requestId = plainId(json[wire.requestIdField])
  const said = json[wire.statusField]
  return { json, requestId, isPlatforms: requestId !== undefined && (said === undefined || said === status) }
}

/** How the value of an operation is read from a body; `undefined` when it is not there. */
export type ReadValue<T> = (json: JsonObject, wire: Wire) => T | undefined

/** 4.2. A pipe with another id than the one asked for is not an answer. */
export function pipeWithId(pipeId: string): ReadValue<ObservedPipe> {
  return (json, wire) => {
    const pipe = observedPipe(json[wire.resultField])
    return pipe?.id.toLowerCase() === pipeId.toLowerCase() ? pipe : undefined
  }
}

/**
 * 4.1. The id is what must not be lost: when the rest has a shape that we do not expect, the id alone is the value,
 * and the next reading tells the rest.
 */
export function createdPipe(json: JsonObject, wire: Wire): ObservedPipe | undefined {
  const result = json[wire.resultField]
  const id = result !== undefined && isObject(result) ? result['id'] : undefined
  return observedPipe(result) ?? (typeof id === 'string' && id !== '' ? { id } : undefined)
}

/** 4.3. */
export function endpoint(json: JsonObject, wire: Wire): ObservedEndpoint | undefined {
  return observedEndpoint(json[wire.resultField])
}

/** 4.4. */
export function alert(json: JsonObject, wire: Wire): ObservedAlert | undefined {
  return observedAlert(json[wire.alertField])
}

function jsonObject(text: string): JsonObject | undefined {
  try {
    const json: unknown = JSON.parse(text)
    return isObject(json) ? json : undefined
  } catch {
    return undefined
  }
}

/** It goes into log lines and messages, so it must be short and plain. */
function plainId(value: unknown): string | undefined {
  return typeof value === 'string' && /^[\x21-\x7e]{1,128}$/.test(value) ? value : undefined
}
