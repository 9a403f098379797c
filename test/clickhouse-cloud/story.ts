import { expect } from 'vitest'
import { LedgerError, type Ledger } from '../../src/contract/ledger.ts'
import type { Policy } from '../../src/kinds/manifest.ts'
import type { Key } from '../../src/kinds/key.ts'
import type { Json, JsonObject } from '../../src/lib/json.ts'
import { messageOf } from '../../src/plan/reason.ts'
import { told, type Client, type ServiceIs } from './client.ts'
import {
  DELETE,
  during,
  FILES,
  GRACE,
  HOUR,
  KAFKA,
  MINUTE,
  OTHER_TOPIC,
  passes,
  POSTGRES,
  REPLACE,
  REPLICAS,
  sent,
  stateOf,
  tableNames,
  untilGone,
  withTable,
  withTopics,
} from './edited-pipes.ts'
import { Killed, manifestOf } from './reach.ts'
import type { PipeState } from './states.ts'
import type { Interfere, Mishap } from './strict-wire.ts'

/*
 * Stories of one pipe, alert or query endpoint: steps of a text, separated by `;`, and functions for all else.
 *
 *   want OTHER replace paused=true     its manifest asks for this body, with this policy. `it` is the last body
 *   spoil; remove; service broken      its manifest, or that of its service
 *   doubt there; older r2; not older   the reading, or the checkout
 *   dependency not ready               its service
 *   5 s, 2 min, 1 h, grace             time passes
 *   turn, turn asked, turn in passing  one reconcile; `turn Alert/other`: of another key
 *   for 20 min, until gone 20 min      as the queue does it; until its record holds no pipe
 *   settle; 3 passes; restart          until it is at rest; one each five minutes; the next process. `lost`: with an empty ledger
 *   on DELETE: cut before; calm        how requests are answered from now on. `list` is GET of all pipes, `read` GET of one
 *   killed after delete                one reconcile, in which the process ends
 *   state Paused                       of the pipe, on the service
 *   sends stop, PATCH; sends nothing   what was sent since it was asked the last time
 *   asks list, GET 404, POST           the same, with readings
 *   counts 1                           what the service has of its kind
 *   is InSync; shows Ready; runs       reason, status, or state on the service
 *   says some words; hides some words  part of the message, or none of it
 *   tables customers, invoices         its tables on the service
 *   unmount edited/password            a secret is gone
 *   holds nothing                      its record has no pipe; or `a pipe`
 */

export type Step = string | ((client: Client) => unknown)

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, min: MINUTE, h: HOUR }

const BODIES: Readonly<Record<string, JsonObject>> = {
  KAFKA,
  POSTGRES,
  FILES,
  REPLICAS,
  OTHER: OTHER_TOPIC,
  THIRD: withTopics('orders.v3'),
  INVOICES: withTable('invoices'),
}

const ERRORS: Readonly<Record<string, string>> = {
  200: '',
  400: 'BAD_REQUEST: not now',
  403: 'FORBIDDEN: this key may not',
  404: 'NOT_FOUND: no such pipe',
  424: 'FAILED_DEPENDENCY: the service is idle',
  500: 'INTERNAL_ERROR: no',
  503: 'SERVICE_UNAVAILABLE',
}

/** Plays a story from a client that is about to be there. */
export async function story(begin: Promise<Client>, ...steps: readonly Step[]): Promise<void> {
  await using client = await begin
  await play(client, ...steps)
}

export async function play(client: Client, ...steps: readonly Step[]): Promise<void> {
  for (const step of steps) {
    if (typeof step === 'function') await step(client)
    else for (const part of step.split(';')) await playStep(client, part.trim())
  }
}

/** A step that only such a body or policy can tell. */
export function want(body?: JsonObject, policy?: Policy): Step {
  return (client) => client.want(body, policy)
}

/** A manifest of another resource. */
export function put(key: string, spec: JsonObject, policy?: JsonObject): Step {
  const [kind = '', name = ''] = key.split('/')
  return (client) => client.put(`${name}.json`, manifestOf(kind, name, { spec, policy }))
}

export function has(fields: object): Step {
  return (client) => expect(client.body()).toMatchObject(fields)
}

export function plans(item: object, key?: Key): Step {
  return async (client) => expect(await client.plan(key)).toMatchObject(item)
}

export function acts(action: object, said = ''): Step {
  return async (client) => {
    const result = await client.reconcile()
    expect(result.action).toMatchObject(action)
    expect(messageOf(result.action, { key: client.key })).toContain(said)
  }
}

/** Somebody else edits it. */
export function byHand(fields: Readonly<Record<string, Json>>): Step {
  return (client) => client.edit(fields)
}

/** What happens right before the next request that changes something. */
export function meanwhile(...steps: readonly Step[]): Step {
  return (client) => client.meanwhile(() => play(client, ...steps))
}

/** The ledger cannot be written meanwhile. */
export function unwritable(...steps: readonly Step[]): Step {
  return async (client) => {
    const { ledger } = client.context()
    const full = { swap: () => Promise.reject(new LedgerError('io', 'the disk is full')) }
    Object.assign(client.context(), { ledger: Object.assign(Object.create(ledger) as Ledger, full) }) // else the same
    await play(client, ...steps)
    Object.assign(client.context(), { ledger })
  }
}

/** Likewise for requests on their way. */
export function on(how: Interfere): Step {
  return (client) => client.interfere(how)
}

/** The reply to one request is lost, and from then on nothing is answered. */
export function lostReply(to: string, lost: 'cut after' | 'late' = 'cut after'): Step {
  let isLost = false
  return on(({ method }) => {
    if (isLost) return { status: 503, error: 'SERVICE_UNAVAILABLE' }
    isLost = method === to
    return isLost ? lost : undefined
  })
}

async function playStep(client: Client, step: string): Promise<unknown> {
  const [, verb = '', rest = ''] = /^(\S+) ?(.*)$/s.exec(step) ?? []
  const at = `${step}: ${client.message()}`
  const { server } = client
  switch (verb) {
    case 'want':
      return wantNamed(client, rest)
    case 'spoil':
    case 'remove':
    case 'restart':
    case 'settle':
      return client[verb]()
    case 'lost':
      return client.restart('lost')
    case 'service':
      return client.service(rest as ServiceIs)
    case 'doubt':
      return client.doubt(rest as 'there' | 'over')
    case 'older':
      return client.older(rest)
    case 'not':
      return client.older(undefined)
    case 'dependency':
      return client.dependency(rest as 'ready' | 'not ready')
    case 'grace':
      return client.skip(GRACE)
    case 'turn':
      if (rest.includes('/')) return client.reconcile(undefined, rest as Key)
      return client.reconcile(rest === '' ? undefined : (rest as 'asked' | 'in passing'))
    case 'for':
      return during(client, msOf(rest))
    case 'until':
      return untilGone(client, msOf(rest.replace('gone ', '')))
    case 'on':
      return client.interfere(answering(rest))
    case 'calm':
      return client.interfere(undefined)
    case 'killed': {
      const [when, way] = rest.split(' ') as ['before' | 'after', 'delete' | 'state' | 'update']
      client.killAt({ way, when })
      return expect(client.reconcile(), at).rejects.toThrow(Killed)
    }
    case 'state':
      return server.setStates(client.id(), rest as PipeState)
    case 'sends':
      return expect(sent(client), at).toEqual(rest === 'nothing' ? [] : rest.split(', '))
    case 'asks':
      return expect(asked(client), at).toEqual(rest.split(', '))
    case 'counts':
      return expect(client.count(), at).toBe(Number(rest))
    case 'is':
      return expect(client.reason(), at).toBe(rest)
    case 'shows':
      return expect(client.status(), at).toBe(rest)
    case 'runs':
      return expect(stateOf(client), at).toBe('Running')
    case 'rests':
      return expect(stateOf(client), at).toBe(rest)
    case 'says':
      return expect(client.message()).toContain(rest)
    case 'hides':
      return expect(client.message()).not.toContain(rest)
    case 'tables':
      return expect(tableNames(client), at).toEqual(rest.split(', '))
    case 'unmount':
      return client.mounted.delete(rest)
    case 'holds':
      return expect(client.record()?.remote === undefined, at).toBe(rest === 'nothing')
    default:
      if (rest === 'passes') return passes(client, Number(verb))
      return client.skip(msOf(step))
  }
}

/** Each request; a GET of all is a list. */
function asked(client: Client): readonly string[] {
  return client.asked().map((seen) => {
    const isList = seen.method === 'GET' && /\/(?:clickpipes|alerts)$/.test(seen.path)
    return `${isList ? 'list' : told(seen)}${seen.status === 200 ? '' : ` ${seen.status}`}`
  })
}

/** @throws if it is no time, and so no step */
function msOf(text: string): number {
  const [, count, unit = ''] = /^([\d.]+) (s|min|h)$/.exec(text) ?? []
  const ms = Number(count) * (UNIT_MS[unit] ?? NaN)
  if (Number.isNaN(ms)) throw new Error(`there is no step "${text}"`)
  return ms
}

function wantNamed(client: Client, text: string): Promise<void> {
  const [name = '', ...words] = text.split(' ')
  const body = BODIES[name]
  if (body === undefined && name !== 'it') throw new Error(`there is no body "${name}"`)
  const policies = words.map((word): Policy => {
    if (word === 'replace') return REPLACE
    if (word === 'absent') return DELETE
    const [field = '', value = ''] = word.split('=')
    return { [field]: ({ true: true, false: false } as Readonly<Record<string, Json>>)[value] ?? value }
  })
  return client.want(body, Object.assign({}, ...policies) as Policy)
}

/** @param text `METHOD [path]: REPLY [once or twice]` */
function answering(text: string): Interfere {
  const [, what = '', reply = '', count] = /^(.+): (.+?)(?: (once|twice))?$/.exec(text) ?? []
  const mishap = /^\d+$/.test(reply)
    ? { status: Number(reply), error: ERRORS[reply] ?? '' }
    : (reply as Mishap)
  let left = { once: 1, twice: 2 }[count ?? ''] ?? Infinity
  return ({ method, below }) => {
    const names = [
      method,
      `${method} ${below}`.trim(),
      'any',
      method === 'GET' && (below === '…' ? 'list' : 'read'),
    ]
    if (!names.includes(what) || left === 0) return undefined
    left -= 1
    return mishap
  }
}
