import type { ResourceManifest } from '../kinds/manifest.ts'
import { isObject, sameJson } from '../lib/json.ts'
import type { Json, JsonObject } from '../lib/json.ts'
import { expectedOf } from './asked-body.ts'

/** What a reply says otherwise than a manifest asks for it. */
interface Rest {
  /** Members that are the same. */
  readonly same: readonly string[]
  /** Objects that are not the same, but have members that may be. */
  readonly inside: Readonly<Record<string, Rest>>
  /** All others, as they came. */
  readonly own: JsonObject
}

/**
 * A reply in as little room as it takes: mostly it repeats what the manifest asks for, and of ten thousand of them, as
 * text, that would be the largest part of what a daemon holds.
 */
export class KeptReply {
  readonly #rest: string
  readonly #manifest: ResourceManifest | undefined

  /** @param manifest what was asked for when the reply came, if anything */
  constructor(reply: JsonObject, manifest: ResourceManifest | undefined) {
    this.#manifest = manifest
    this.#rest = JSON.stringify(restOf(reply, askedIn(manifest)))
  }

  /** The reply as it came; its members may stand in another order. */
  get body(): JsonObject {
    const rest = JSON.parse(this.#rest) as Rest // written above
    return whole(rest, askedIn(this.#manifest))
  }
}

function askedIn(manifest: ResourceManifest | undefined): JsonObject {
  return (manifest && expectedOf(manifest)) ?? {}
}

function restOf(reply: JsonObject, asked: JsonObject): Rest {
  const same: string[] = []
  const inside: (readonly [string, Rest])[] = []
  const own: (readonly [string, Json | undefined])[] = []
  for (const [name, value] of Object.entries(reply)) {
    const wanted = Object.hasOwn(asked, name) ? asked[name] : undefined
    if (value === undefined || wanted === undefined) own.push([name, value])
    else if (sameJson(value, wanted)) same.push(name)
    else if (isObject(value) && isObject(wanted)) inside.push([name, restOf(value, wanted)])
    else own.push([name, value])
  }
  return { same, inside: Object.fromEntries(inside), own: Object.fromEntries(own) }
}

function whole({ same, inside, own }: Rest, asked: JsonObject): JsonObject {
  const within = Object.entries(inside).map(([name, rest]) => {
    const wanted = asked[name]
    return [name, whole(rest, wanted !== undefined && isObject(wanted) ? wanted : {})] as const
  })
  return {
    ...own,
    ...Object.fromEntries(same.map((name) => [name, asked[name]])),
    ...Object.fromEntries(within),
  }
}
