import type { IncomingHttpHeaders } from 'node:http'
import type { Json, JsonObject } from '../../src/lib/json.ts'
import { createRandom, type Random } from '../torture/random.ts'
import type { Fault } from './shape.ts'
import type { PipeState } from './states.ts'
import type { StrictOptions } from './strict-server.ts'

export interface Pipe {
  readonly id: string
  /** All that was asked for and applied, secrets included. */
  body: JsonObject
  /** The one that it is in, and those that come: each reading is one step on, and the last stays. */
  states: readonly PipeState[]
  /** For how many readings a new size is not told yet. */
  sizeLag: number
  /** How often it was told of; no two replies need to look the same. */
  reads: number
}

export interface World extends StrictOptions {
  readonly pipes: Map<string, Pipe>
  readonly reads: Map<string, number>
  readonly endpoint: { body: JsonObject | undefined }
  readonly alerts: JsonObject[]
  readonly hyperdx: { readonly token: string; readonly alerts: JsonObject[] }
}

export interface Asked {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly content: Buffer
}

export interface Answer {
  readonly status: number
  readonly result: Json | undefined
  readonly refused: readonly string[]
  /** Fields that were taken and not applied. */
  readonly dropped: readonly string[]
  readonly form: 'cloud' | 'hyperdx' | 'page'
}

/** 200; some operations have no result. */
export function take(result?: Json): Answer {
  return { status: 200, result, refused: [], dropped: [], form: 'cloud' }
}

export function refuse(status: number, ...refused: readonly string[]): Answer {
  return { status, result: undefined, refused, dropped: [], form: 'cloud' }
}

export function refuseFaults(faults: readonly Fault[]): Answer {
  return refuse(400, ...faults.map(({ field, rule }) => `BAD_REQUEST: ${field}: ${rule}`))
}

export function stateNow({ states }: Pipe): PipeState {
  return states[0] ?? 'Unknown'
}

export function randomOf(world: World, what: string): Random {
  const reads = world.reads.get(what) ?? 0
  world.reads.set(what, reads + 1)
  return createRandom(`${world.seed}/${what}/${reads}`)
}
